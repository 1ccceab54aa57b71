//===- ScheduleStages.cpp - Messages between stages, in order -------------===//
//
// A stage runs its micro-batches' forwards and backwards in the order of the
// pipeline. While a forward is computed, the values of other stages that the
// next forward reads are received, and the results of the previous one are
// sent; likewise for backwards. Each of these four kinds of messages has a
// queue for each chunk of the stage, so that none waits for another. If there
// are several chunks, messages to each of them have a queue of their own, too.
// Events signal that a place is filled, and that it may be used again: `used`
// says that the last backward is done, so that a later micro-batch can reuse
// the places of that backward's micro-batch.
//===----------------------------------------------------------------------===//

#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

namespace {
/// The numbers of a stage's actions: one for the first micro-batch, which
/// starts the first receives, and then the others for one chunk after the
/// other. `again` exists only if something is recomputed.
enum Case { start, forward, backward, weight, again };

/// Events: those of messages that are sent once, then for each chunk those of
/// its uploads and of each of its links. There are two events if two
/// micro-batches wait alternately; sends have as many events as places.
enum StageEvent {
  onceComputed,
  onceReceived,
  onceSent,
  firstOfChunk,
  kUploadedEvents = 2,
  computed = 0,
  received = 1
};
} // namespace

/// The outgoing side of messages to the chunk with block `reader`, or to all
/// chunks if that is -1.
struct ScheduleBuilder::Outlet {
  int64_t reader;
  int64_t queue;
  Event sent;
};

/// The messages from tasks of one part and block to other stages, and the
/// messages that these tasks receive. Chunks don't read the same micro-batches
/// at the same time. So messages to one chunk mustn't wait for those to another
/// one, whatever the chunks' stages.
struct ScheduleBuilder::Link {
  StringRef part;
  int64_t block;
  int64_t receives; ///< the queue of receives
  int64_t computed; ///< event: the data to send are complete
  Event received;
  SmallVector<Outlet> outlets;
};

static Case getCase(planning::ActionKind kind) {
  switch (kind) {
  case planning::ActionKind::forward:
    return Case::forward;
  case planning::ActionKind::recompute:
    return Case::again;
  case planning::ActionKind::backward:
  case planning::ActionKind::backwardInput:
    return Case::backward;
  case planning::ActionKind::backwardWeight:
    return Case::weight;
  }
  llvm_unreachable("all kinds are listed");
}

/// Returns whether some stage has a backward from drawn targets.
bool ScheduleBuilder::hasSampled() const {
  return llvm::any_of(all, [](TaskOp task) {
    return TaskOp(task).getPart() == parts::kSampledMoments;
  });
}

/// Returns whether results of tasks of a part are sent to earlier stages.
static bool goesBack(StringRef part) {
  return part == parts::kBackward || part == parts::kSampledMoments;
}

/// Returns the number of an event of stages, which follow those of sums.
int64_t ScheduleBuilder::getStageEvent(int64_t which) const {
  return getSumEvent(/*isSummed=*/true, resultBlock) + 1 + which;
}

/// Returns the largest number of micro-batches for which values between stages
/// have places.
int64_t ScheduleBuilder::getMostPlaces() const {
  int64_t most = 1;
  for (auto segment : SegmentAttr::getTable(module).getAsRange<SegmentAttr>())
    if (segment.getRole() == Role::cut)
      most = std::max<int64_t>(most, segment.getInstances());
  return most;
}

/// Returns the number of events that say that a place has been filled. If a
/// step goes block by block, all of its places are filled as soon as possible.
int64_t ScheduleBuilder::countReceived() const {
  return job.goesByBlocks() ? std::max<int64_t>(2, job.microBatches) : 2;
}

/// Returns the first event of a chunk's link; link 0 stands for its uploads.
int64_t ScheduleBuilder::getLinkEvent(int64_t chunk, int64_t link) const {
  int64_t ofLink = StageEvent::received + countReceived() +
                   getMostPlaces() * (resultBlock + 1);
  int64_t links = hasSampled() ? 3 : 2;
  return getStageEvent(StageEvent::firstOfChunk +
                       chunk * (kUploadedEvents + links * ofLink) +
                       (link == 0 ? 0 : kUploadedEvents + (link - 1) * ofLink));
}

/// Returns the blocks of the stage, one per chunk.
SmallVector<int64_t> ScheduleBuilder::getChunks() const {
  SmallVector<int64_t> blocks;
  for (int64_t block = 0; block <= resultBlock; ++block)
    if (job.getStage(block) == stage)
      blocks.push_back(block);
  return blocks;
}

ScheduleBuilder::Link ScheduleBuilder::getLink(StringRef part,
                                               int64_t chunk) const {
  bool isBackward = goesBack(part);
  int64_t number = part == parts::kSampledMoments ? 3 : isBackward ? 2 : 1;
  int64_t event = getLinkEvent(chunk, number);
  int64_t queue = kOfChunk * chunk;
  Link link = {part,
               getChunks()[chunk],
               queue + (isBackward ? kGradientReceives : kReceives),
               event + StageEvent::computed,
               {event + StageEvent::received, countReceived()},
               {}};
  queue += isBackward ? kGradientSends : kSends;
  event += StageEvent::received + countReceived();
  for (auto [reader, places] : getReaders(part, link.block)) {
    link.outlets.push_back({reader, queue, {event, places}});
    queue = getNextQueue(part, chunk) + link.outlets.size() - 1;
    event += places;
  }
  if (part == parts::kSampledMoments)
    chooseSampledQueues(link, chunk);
  return link;
}

/// Chooses queues for the backward from drawn targets: those of the other
/// backward's messages to the same readers.
void ScheduleBuilder::chooseSampledQueues(Link &link, int64_t chunk) const {
  Link backward = getLink(parts::kBackward, chunk);
  int64_t own = getNextQueue(link.part, chunk);
  for (Outlet &outlet : link.outlets) {
    const auto *same =
        llvm::find_if(backward.outlets, [&](const Outlet &known) {
          return known.reader == outlet.reader;
        });
    outlet.queue = same == backward.outlets.end() ? own++ : same->queue;
  }
}

/// Returns whether messages of `block` use the link of block `ofLink`. A chunk
/// is one block, or all blocks of the stage if a step goes block by block.
bool ScheduleBuilder::isOfLink(int64_t block, int64_t ofLink) const {
  return job.goesByBlocks() ? job.getStage(block) == job.getStage(ofLink)
                            : block == ofLink;
}

/// Returns the blocks that receive the values that tasks of a part write in a
/// block, each with the number of places for them. Block -1 stands for all
/// blocks.
llvm::MapVector<int64_t, int64_t>
ScheduleBuilder::getReaders(StringRef part, int64_t block) const {
  llvm::MapVector<int64_t, int64_t> places;
  for (auto [number, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    if (segment.getRole() != Role::cut || segment.getBytes() == 0 ||
        !isOfLink(segment.getBlock(), block) ||
        !isWrittenBy(static_cast<int64_t>(number), part))
      continue;
    for (int64_t reader : segment.getReaders()) {
      int64_t to = getReader(static_cast<int64_t>(number), part, reader);
      int64_t &least =
          places.insert({to, segment.getInstances()}).first->second;
      least = std::min<int64_t>(least, segment.getInstances());
    }
  }
  return places;
}

/// Returns the first queue for readers of a link other than its first reader.
/// Such queues follow those of the links before.
int64_t ScheduleBuilder::getNextQueue(StringRef part, int64_t chunk) const {
  int64_t queue = kSends + kOfChunk * job.chunks;
  for (auto [number, block] : llvm::enumerate(getChunks()))
    for (StringRef other : {parts::kForward, parts::kBackward,
                            parts::kSampledMoments, parts::kEvaluate}) {
      if (static_cast<int64_t>(number) == chunk && other == part)
        return queue;
      auto readers = static_cast<int64_t>(getReaders(other, block).size());
      int64_t shared = other == parts::kSampledMoments ? 0 : 1;
      if ((other == parts::kEvaluate) == (part == parts::kEvaluate))
        queue += std::max<int64_t>(readers - shared, 0);
    }
  return queue;
}

ScheduleBuilder::Event ScheduleBuilder::getUploaded(int64_t chunk) const {
  return {getLinkEvent(chunk, 0), kUploadedEvents};
}

bool ScheduleBuilder::isWrittenBy(int64_t segment, StringRef part) const {
  return llvm::any_of(all, [&](TaskOp task) {
    return task.getPart() == part &&
           llvm::is_contained(task.getWrites(), segment);
  });
}

/// Calls `say` for each segment that this stage sends, with the receiving
/// stage, or for each one that it receives, with the stage that owns it. Both
/// sides visit them in the same order.
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

/// Returns the block of the stage that is the first one to need a segment of
/// another stage: in a forward its first reader, in a backward its last one.
/// Returns -1 if none needs it.
int64_t ScheduleBuilder::getFirstReader(int64_t segment, StringRef part,
                                        int64_t stage) const {
  int64_t first = -1;
  for (TaskOp task : all) {
    auto of = static_cast<int64_t>(task.getBlock());
    bool isEvaluate = task.getPart() == parts::kEvaluate;
    if (job.getStage(of) != stage || isEvaluate != (part == parts::kEvaluate) ||
        !llvm::is_contained(task.getReads(), segment))
      continue;
    bool isBackward = goesBack(part);
    if (first < 0 || (isBackward ? of > first : of < first))
      first = of;
  }
  return first;
}

/// Returns the outlet's `reader` through which a stage receives a segment of
/// another one.
int64_t ScheduleBuilder::getReader(int64_t segment, StringRef part,
                                   int64_t stage) const {
  return job.chunks > 1 ? getFirstReader(segment, part, stage) : -1;
}

/// Calls `say` for each message of a micro-batch's values.
void ScheduleBuilder::forMessages(
    const Link &link, bool sends,
    llvm::function_ref<void(int64_t, SegmentAttr, int64_t)> say) {
  auto isMeant = [&](int64_t number, SegmentAttr segment) {
    return segment.getRole() == Role::cut && isWrittenBy(number, link.part) &&
           isOfLink(sends ? segment.getBlock()
                          : getFirstReader(number, link.part, stage),
                    link.block);
  };
  forMessages(sends, isMeant, say);
}

/// Returns whether the link receives anything.
bool ScheduleBuilder::hasMessages(const Link &link) {
  bool found = false;
  forMessages(link, /*sends=*/false,
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
  if (link.outlets.empty())
    return;
  record(link.computed, kTasks);
  for (const Outlet &outlet : link.outlets) {
    await(link.computed, outlet.queue);
    forMessages(link, /*sends=*/true,
                [&](int64_t number, SegmentAttr segment, int64_t to) {
                  if (outlet.reader == getReader(number, link.part, to))
                    SendOp::create(builder, getLoc(), segment.getBytes(),
                                   getPlace(Space::segment, number), to,
                                   /*device=*/0, outlet.queue);
                });
    record(outlet.sent, outlet.queue);
  }
}

/// Waits until the old data in the places that will be written have been sent.
void ScheduleBuilder::awaitSent(const Link &link) {
  for (const Outlet &outlet : link.outlets)
    await(outlet.sent, kTasks);
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Returns the fields that no chunk of the stage before this one reads.
SmallVector<ScheduleBuilder::Field>
ScheduleBuilder::getFields(int64_t chunk) const {
  SmallVector<Field> fields = getFields();
  llvm::erase_if(fields, [&](Field field) {
    return getFirstReader(field.variable.getLocation()->getSegment(),
                          parts::kForward, stage) != getChunks()[chunk];
  });
  return fields;
}

void ScheduleBuilder::runStart() {
  for (int64_t chunk = 0; chunk < job.chunks; ++chunk) {
    if (SmallVector<Field> fields = getFields(chunk); !fields.empty()) {
      uploadFields(fields, /*ahead=*/0);
      record(getUploaded(chunk), kUploads);
    }
    for (StringRef part :
         {parts::kForward, parts::kSampledMoments, parts::kBackward})
      if (Link link = getLink(part, chunk); hasMessages(link))
        inStepsOf(part, [&] { receive(link, /*ahead=*/0); });
  }
}

/// Builds commands for a part. The results of drawn targets only exist in steps
/// that take moments.
void ScheduleBuilder::inStepsOf(StringRef part, Body body) {
  if (part == parts::kSampledMoments)
    every(kFactorPeriod, DueKind::any, body);
  else
    body();
}

//===----------------------------------------------------------------------===//
// Block by block
//===----------------------------------------------------------------------===//

/// Starts the receives of a step as soon as the previous step no longer uses
/// their places.
void ScheduleBuilder::beginMessages() {
  record(getUsed(), kTasks);
  for (StringRef part : {parts::kForward, parts::kBackward})
    if (Link link = getLink(part, /*chunk=*/0); hasMessages(link)) {
      await(getUsed(), link.receives);
      overMicroBatches([&] { receive(link, /*ahead=*/0); });
    }
}

/// Runs a block's micro-batches. The part's first task waits for all messages
/// to the stage's tasks of that part, and its last task sends the results of
/// all of them. So both sides have the same order, micro-batch by micro-batch.
void ScheduleBuilder::overMessages(TaskOp task, Body body) {
  StringRef part = task.getPart();
  bool isBackward = goesBack(part);
  ArrayRef<TaskOp> ofPart = getTasks(part);
  Link link = getLink(part, /*chunk=*/0);
  overMicroBatches([&] {
    if (task == (isBackward ? ofPart.back() : ofPart.front())) {
      if (hasMessages(link))
        await(link.received, kTasks);
      awaitSent(link);
    }
    body();
    if (task == (isBackward ? ofPart.front() : ofPart.back()))
      send(link);
  });
}

/// Waits for the messages to the tasks of a micro-batch, and starts to receive
/// those of the next one.
void ScheduleBuilder::awaitMessages(const Link &link) {
  if (hasMessages(link)) {
    await(link.received, kTasks);
    await(getUsed(), link.receives);
    receive(link, /*ahead=*/1);
  }
  awaitSent(link);
}

void ScheduleBuilder::runChunk(StringRef part, int64_t chunk) {
  for (TaskOp task : getTasks(part))
    if (static_cast<int64_t>(task.getBlock()) == getChunks()[chunk]) {
      TaskOp second = findSecondVersion(task);
      bool byCopies = findRowsVersion(task).getByCopies() &&
                      (!second || findRowsVersion(second).getByCopies());
      inTurnsIf(byCopies, [&] { runVersions(task); });
    }
}

void ScheduleBuilder::runForward(int64_t chunk) {
  if (SmallVector<Field> fields = getFields(chunk); !fields.empty()) {
    await(getUploaded(chunk), kTasks);
    await(getUsed(), kUploads);
    uploadFields(fields, /*ahead=*/1);
    record(getUploaded(chunk), kUploads, /*ahead=*/1);
  }
  Link link = getLink(parts::kForward, chunk);
  awaitMessages(link);
  addSharedMoments(link.block);
  runChunk(parts::kForward, chunk);
  if (job.overlap)
    tellMoments(link.block);
  send(link);
}

/// Runs the backward from drawn targets. It comes before the other backward,
/// and sends to the same stages through the same queues, so that both sides
/// have the same order.
void ScheduleBuilder::runSampled(int64_t chunk) {
  if (!hasSampled())
    return;
  Link link = getLink(parts::kSampledMoments, chunk);
  inStepsOf(link.part, [&] {
    awaitMessages(link);
    for (TaskOp task : getTasks(parts::kSampledMoments))
      if (static_cast<int64_t>(task.getBlock()) == link.block)
        inTurnsIf(task.getByCopies(), [&] {
          every(kFactorPeriod, DueKind::due, [&] { run(task); });
        });
    send(link);
  });
}

void ScheduleBuilder::runBackward(int64_t chunk) {
  runSampled(chunk);
  Link link = getLink(parts::kBackward, chunk);
  awaitMessages(link);
  tellSums(-1);
  runChunk(parts::kBackward, chunk);
  record(getUsed(), kTasks);
  if (!job.splitsBackward())
    tellSums(link.block);
  send(link);
}

void ScheduleBuilder::runWeight(int64_t chunk) {
  runChunk(parts::kBackwardWeight, chunk);
  record(getUsed(), kTasks);
  tellSums(getChunks()[chunk]);
}

/// Returns the number of a chunk's cases, which is also the number of its last
/// case.
int64_t ScheduleBuilder::countCasesOfChunk() const {
  return getTasks(parts::kRecompute).empty() ? Case::weight : Case::again;
}

/// Returns the order of the stage's first worker. No other worker of the stage
/// has more micro-batches.
SmallVector<int64_t> ScheduleBuilder::getStageOrder() const {
  const planning::PipelineShape &shape = order.shape;
  int64_t worker = shape.getFirstWorker(stage);
  SmallVector<int64_t> own = shape.getMicroBatches(worker);
  SmallVector<int64_t> chunks = getChunks();
  SmallVector<int64_t> actions = {Case::start, 0};
  for (const planning::Action &action : order.workers[worker]) {
    int64_t kind = getCase(action.kind);
    if (kind > countCasesOfChunk()) // nothing to compute
      continue;
    int64_t chunk = llvm::find(chunks, action.stage) - chunks.begin();
    actions.push_back(kind + countCasesOfChunk() * chunk);
    actions.push_back(llvm::find(own, action.microBatch) - own.begin());
  }
  return actions;
}

void ScheduleBuilder::runActions() {
  auto op = ActionsOp::create(builder, getLoc(), getStageOrder());
  OpBuilder::InsertionGuard guard(builder);
  Block &cases = op.getBody().emplaceBlock();
  int64_t next = 0;
  auto addCase = [&](Body body) {
    builder.setInsertionPointToEnd(&cases);
    auto added = CaseOp::create(builder, getLoc(), next++);
    builder.setInsertionPointToEnd(&added.getBody().emplaceBlock());
    body();
  };
  addCase([&] { runStart(); });
  for (int64_t chunk = 0; chunk < job.chunks; ++chunk) {
    addCase([&] { runForward(chunk); });
    addCase([&] { runBackward(chunk); });
    addCase([&] { runWeight(chunk); });
    if (countCasesOfChunk() == Case::again)
      addCase([&] { runChunk(parts::kRecompute, chunk); });
  }
}

//===----------------------------------------------------------------------===//
// Evaluations, and messages that are sent once
//===----------------------------------------------------------------------===//

/// Runs the evaluation of one micro-batch.
void ScheduleBuilder::evaluateStage() {
  for (int64_t chunk = 0; chunk < job.chunks; ++chunk) {
    Link link = getLink(parts::kEvaluate, chunk);
    if (hasMessages(link)) {
      await(getUsed(), link.receives);
      receive(link, /*ahead=*/0);
      await(link.received, kTasks);
    }
    awaitSent(link);
    if (job.goesByBlocks())
      runAll(parts::kEvaluate);
    else
      runChunk(parts::kEvaluate, chunk);
    record(getUsed(), kTasks);
    send(link);
  }
}

/// Waits until the messages of giveOnce() have been sent.
void ScheduleBuilder::awaitSentOnce() {
  int64_t sent = getStageEvent(StageEvent::onceSent);
  record(sent, kSends);
  await(sent, kTasks);
}

/// Sends the segments of a role that other stages read, except for values of
/// micro-batches, after tasks have written them. `parts` are the parts of these
/// tasks; by default, these are all parts.
void ScheduleBuilder::giveOnce(Role role, ArrayRef<StringRef> parts) {
  if (!isStage())
    return;
  int64_t computed = getStageEvent(StageEvent::onceComputed);
  int64_t received = getStageEvent(StageEvent::onceReceived);
  auto isMeant = [&](int64_t number, SegmentAttr segment) {
    return segment.getRole() == role &&
           (parts.empty() || llvm::any_of(parts, [&](StringRef part) {
              return isWrittenBy(number, part);
            }));
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
