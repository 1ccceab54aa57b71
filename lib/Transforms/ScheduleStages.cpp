//===- ScheduleStages.cpp - What stages say to each other, and when -------===//
//
// A stage does its micro-batches' forwards and backwards in the order that the
// pipeline has. What a forward reads of other stages comes while the forward
// before it is computed, what it gives leaves while the next one is; the same
// of backwards. Each of these four ways has a queue, so that none waits for
// another. Events tell when a place is there, and when it may be used again:
// `used` that the last backward is done, on whose micro-batch's places those of
// a later one lie.
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

namespace {
/// Of the actions of a stage, by number. The first, for the first micro-batch,
/// has what comes begin to come.
enum Case { start, forward, backward };
} // namespace

/// What goes from tasks of one part to those of other stages.
struct ScheduleBuilder::Link {
  StringRef part;
  int64_t sends, receives; ///< queues
  int64_t computed;        ///< event: what is to be sent is there
  Event sent, received;
};

/// After those of sums. Of what two micro-batches in turn wait for there are
/// two.
int64_t ScheduleBuilder::getStageEvent(int64_t which) const {
  return getSumEvent(/*isSummed=*/true, resultBlock) + 1 + which;
}

ScheduleBuilder::Link ScheduleBuilder::getLink(StringRef part) const {
  bool isBackward = part == parts::kBackward;
  int64_t event = getStageEvent(isBackward ? 5 : 0);
  return {part,
          isBackward ? kGradientSends : kSends,
          isBackward ? kGradientReceives : kReceives,
          event,
          {event + 1, 2},
          {event + 3, 2}};
}

bool ScheduleBuilder::isWrittenBy(int64_t segment, StringRef part) const {
  return llvm::any_of(all, [&](TaskOp task) {
    return task.getPart() == part &&
           llvm::is_contained(task.getWrites(), segment);
  });
}

/// Gives each segment that this stage sends, with the stage that gets it, or
/// that it receives, with the stage that has it; both sides in one order.
void ScheduleBuilder::forMessages(
    bool sends, llvm::function_ref<bool(int64_t, SegmentAttr)> isMeant,
    llvm::function_ref<void(int64_t, SegmentAttr, int64_t)> say) {
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    auto number = static_cast<int64_t>(index);
    if (segment.getReaders().empty() || segment.getBytes() == 0 ||
        !isMeant(number, segment))
      continue;
    int64_t owner = job.getStage(segment.getBlock());
    for (int64_t reader : segment.getReaders()) {
      if (sends && owner == stage)
        say(number, segment, reader);
      if (!sends && reader == stage)
        say(number, segment, owner);
    }
  }
}

/// Values of micro-batches.
void ScheduleBuilder::forMessages(
    const Link &link, bool sends,
    llvm::function_ref<void(int64_t, SegmentAttr, int64_t)> say) {
  auto isMeant = [&](int64_t number, SegmentAttr segment) {
    return segment.getRole() == Role::cut && isWrittenBy(number, link.part);
  };
  forMessages(sends, isMeant, say);
}

bool ScheduleBuilder::hasMessages(const Link &link, bool sends) {
  bool found = false;
  forMessages(link, sends,
              [&](int64_t, SegmentAttr, int64_t) { found = true; });
  return found;
}

void ScheduleBuilder::receive(const Link &link, int64_t ahead) {
  forMessages(link, /*sends=*/false,
              [&](int64_t number, SegmentAttr segment, int64_t from) {
                ReceiveOp::create(builder, getLoc(), segment.getBytes(),
                                  getPlace(Space::segment, number), from, ahead,
                                  /*device=*/0, link.receives);
              });
  record(link.received, link.receives, ahead);
}

void ScheduleBuilder::send(const Link &link) {
  record(link.computed, kTasks);
  await(link.computed, link.sends);
  forMessages(link, /*sends=*/true,
              [&](int64_t number, SegmentAttr segment, int64_t to) {
                SendOp::create(builder, getLoc(), segment.getBytes(),
                               getPlace(Space::segment, number), to,
                               /*device=*/0, link.sends);
              });
  record(link.sent, link.sends);
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void ScheduleBuilder::runStart() {
  if (readsFields()) {
    uploadFields(/*ahead=*/0);
    record(getUploaded(), kUploads);
  }
  for (StringRef part : {parts::kForward, parts::kBackward})
    if (Link link = getLink(part); hasMessages(link, /*sends=*/false))
      receive(link, /*ahead=*/0);
}

/// Waits for what the tasks of a micro-batch read of others, and has the next
/// one's come.
void ScheduleBuilder::awaitMessages(const Link &link) {
  if (hasMessages(link, /*sends=*/false)) {
    await(link.received, kTasks);
    await(getUsed(), link.receives);
    receive(link, /*ahead=*/1);
  }
  // The place that will be written has left.
  if (hasMessages(link, /*sends=*/true))
    await(link.sent, kTasks);
}

void ScheduleBuilder::runForward() {
  if (readsFields()) {
    await(getUploaded(), kTasks);
    await(getUsed(), kUploads);
    uploadFields(/*ahead=*/1);
    record(getUploaded(), kUploads, /*ahead=*/1);
  }
  Link link = getLink(parts::kForward);
  awaitMessages(link);
  inTurnsIf(runByCopies({parts::kForward}), [&] { runAll(parts::kForward); });
  if (hasMessages(link, /*sends=*/true))
    send(link);
}

void ScheduleBuilder::runBackward() {
  Link link = getLink(parts::kBackward);
  awaitMessages(link);
  backward();
  record(getUsed(), kTasks);
  if (hasMessages(link, /*sends=*/true))
    send(link);
}

/// Of the stage's first worker, which has as many micro-batches as any.
SmallVector<int64_t> ScheduleBuilder::getStageOrder() const {
  const planning::PipelineShape &shape = order.shape;
  int64_t worker = shape.getFirstWorker(stage);
  SmallVector<int64_t> own = shape.getMicroBatches(worker);
  SmallVector<int64_t> actions = {Case::start, 0};
  for (const planning::Action &action : order.workers[worker]) {
    bool isForward = action.kind == planning::ActionKind::forward;
    actions.push_back(isForward ? Case::forward : Case::backward);
    actions.push_back(llvm::find(own, action.microBatch) - own.begin());
  }
  return actions;
}

void ScheduleBuilder::runActions() {
  auto op = ActionsOp::create(builder, getLoc(), getStageOrder());
  OpBuilder::InsertionGuard guard(builder);
  Block &cases = op.getBody().emplaceBlock();
  auto addCase = [&](Case number, Body body) {
    builder.setInsertionPointToEnd(&cases);
    auto added = CaseOp::create(builder, getLoc(), number);
    builder.setInsertionPointToEnd(&added.getBody().emplaceBlock());
    body();
  };
  addCase(Case::start, [&] { runStart(); });
  addCase(Case::forward, [&] { runForward(); });
  addCase(Case::backward, [&] { runBackward(); });
}

//===----------------------------------------------------------------------===//
// Evaluations, and what is sent once
//===----------------------------------------------------------------------===//

/// Of one micro-batch.
void ScheduleBuilder::evaluateStage() {
  Link link = getLink(parts::kEvaluate);
  if (hasMessages(link, /*sends=*/false)) {
    await(getUsed(), link.receives);
    receive(link, /*ahead=*/0);
    await(link.received, kTasks);
  }
  bool sends = hasMessages(link, /*sends=*/true);
  if (sends)
    await(link.sent, kTasks);
  inTurnsIf(runByCopies({parts::kEvaluate}), [&] { runAll(parts::kEvaluate); });
  if (!readsFields())
    record(getUsed(), kTasks);
  if (sends)
    send(link);
}

/// What tasks of other stages read of a role beside micro-batches' values, when
/// all tasks before have written it.
void ScheduleBuilder::giveOnce(Role role) {
  if (!isStage())
    return;
  int64_t computed = getStageEvent(10), received = computed + 1;
  auto isMeant = [&](int64_t, SegmentAttr segment) {
    return segment.getRole() == role;
  };
  bool isFirst = true, receives = false;
  auto begin = [&](int64_t queue) {
    if (isFirst)
      record(computed, kTasks);
    isFirst = false;
    await(computed, queue);
  };
  bool sends = false;
  forMessages(/*sends=*/true, isMeant,
              [&](int64_t number, SegmentAttr segment, int64_t to) {
                if (!sends)
                  begin(kSends);
                sends = true;
                SendOp::create(builder, getLoc(), segment.getBytes(),
                               getPlace(Space::segment, number), to,
                               /*device=*/0, kSends);
              });
  forMessages(/*sends=*/false, isMeant,
              [&](int64_t number, SegmentAttr segment, int64_t from) {
                if (!receives)
                  begin(kReceives);
                receives = true;
                ReceiveOp::create(builder, getLoc(), segment.getBytes(),
                                  getPlace(Space::segment, number), from,
                                  /*ahead=*/0, /*device=*/0, kReceives);
              });
  if (!receives)
    return;
  record(received, kReceives);
  await(received, kTasks);
}
