//===- ScheduleDealt.cpp - What some replicas do for all ------------------===//
//
// Where replicas share the work of a preconditioner, each of its tasks is run
// by some of them for all copies, and those that need what it leaves get it
// sent: inverses where they are used, preconditioned gradients everywhere. It
// goes on the queue of sums, while other tasks run.
//===----------------------------------------------------------------------===//

#include "KfacParts.h"
#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

bool ScheduleBuilder::isDealt() const {
  return llvm::any_of(tasks, [](const auto &ofPart) {
    return llvm::any_of(ofPart.second,
                        [](TaskOp task) { return task.getReplicas(); });
  });
}

/// Of whom others get what a task has written.
static bool isGiven(Role role) {
  return role == Role::gradient || role == Role::output ||
         role == Role::curvature;
}

/// What variables that the task writes lie in, by segment: neighbours are one
/// range, of one copy where copies have slabs.
SmallVector<ScheduleBuilder::Range> ScheduleBuilder::findWritten(TaskOp task) {
  std::set<std::pair<int64_t, int64_t>> written;
  for (auto launch : task.getBody().getOps<LaunchOp>())
    for (int64_t number : launch.getWritten()) {
      auto binding = cast<BindingAttr>(launch.getBindings()[number]);
      written.insert({binding.getSegment(), binding.getOffset()});
    }
  ArrayAttr table = SegmentAttr::getTable(module);
  std::map<std::pair<int64_t, int64_t>, int64_t> bytes;
  for (auto variable : module.getOps<VariableOp>()) {
    std::optional<BindingAttr> place = variable.getLocation();
    if (!place || !written.count({place->getSegment(), place->getOffset()}))
      continue;
    auto segment = cast<SegmentAttr>(table[place->getSegment()]);
    if (!isGiven(segment.getRole()))
      continue;
    RankedTensorType type = variable.getTensorType();
    int64_t size = getLogicalBytes(type);
    if (segment.getCopyBytes() == 0 && place->getStride() > 0)
      size = (*getCopies(type) - 1) * place->getStride() + size;
    bytes[{place->getSegment(), place->getOffset()}] = size;
  }
  SmallVector<Range> ranges;
  for (auto [at, size] : bytes) {
    auto [number, offset] = at;
    auto segment = cast<SegmentAttr>(table[number]);
    if (size == 0)
      continue;
    Range *last = ranges.empty() ? nullptr : &ranges.back();
    // Variables begin on lines of their own.
    constexpr int64_t kLine = 64;
    if (last && last->segment == number &&
        llvm::alignTo(last->end, kLine) == uint64_t(offset))
      last->end = offset + size;
    else
      ranges.push_back({number, offset, offset + size, segment.getCopyBytes()});
  }
  return ranges;
}

/// What others that hold it get of what a task of some replicas has left.
SmallVector<ScheduleBuilder::Gift> ScheduleBuilder::findGifts(TaskOp task) {
  SmallVector<Gift> gifts;
  ReplicasAttr from = task.getReplicasAttr();
  if (!from)
    return gifts;
  auto all = ReplicasAttr::get(module.getContext(), 0, getReplicas(), 1);
  for (const Range &range : findWritten(task)) {
    ReplicasAttr holders =
        cast<SegmentAttr>(SegmentAttr::getTable(module)[range.segment])
            .getHolders();
    ReplicasAttr to = holders ? holders : all;
    if (!to.isWithin(from))
      gifts.push_back({range, from, to});
  }
  return gifts;
}

/// Sends what the tasks have left, when all of them are done. Adds the event
/// that tells that it is there, if there is anything.
void ScheduleBuilder::give(ArrayRef<TaskOp> given, StringRef period,
                           SmallVectorImpl<int64_t> &events) {
  SmallVector<Gift> gifts;
  for (TaskOp task : given)
    llvm::append_range(gifts, findGifts(task));
  if (gifts.empty())
    return;
  int64_t computed = getDealtEvent(nextDealt++);
  events.push_back(getDealtEvent(nextDealt++));
  record(computed, kTasks);
  await(computed, kSums);
  auto send = [&] {
    for (const Gift &gift : gifts)
      BroadcastBytesOp::create(builder, getLoc(),
                               gift.range.end - gift.range.begin,
                               getPlace(Space::segment, gift.range.segment,
                                        gift.range.begin, gift.range.stride),
                               gift.from, gift.to, /*device=*/0, kSums);
  };
  if (period.empty())
    send();
  else
    every(period, DueKind::any, send);
  record(events.back(), kSums);
}

/// For the copies whose period has come round, or for all.
void ScheduleBuilder::runDealt(TaskOp task, StringRef period) {
  inTurnsIf(task.getByCopies(), [&] {
    if (period.empty())
      run(task);
    else
      every(period, DueKind::due, [&] { run(task); });
  });
}

/// Whether a task reads what another one has written. Of what a block's layers
/// share with those of other blocks, these may have the inverse.
static bool readsOf(TaskOp reader, TaskOp writer) {
  return llvm::any_of(writer.getWrites(), [&](int64_t segment) {
    return llvm::is_contained(reader.getReads(), segment);
  });
}

/// The same as precondition, not in turns. Inverses are awaited where they are
/// used, and a block's gradients sent when all of them are
/// preconditioned; counts are added up when all else is under way.
void ScheduleBuilder::preconditionTogether() {
  nextDealt = 0;
  awaitSums(Role::result, -1);
  awaitMoments();
  auto awaitAll = [&](ArrayRef<int64_t> events) {
    for (int64_t event : events)
      await(event, kTasks);
  };
  SmallVector<int64_t> factors, directions;
  llvm::MapVector<Operation *, SmallVector<int64_t>> inverses; // by task
  for (TaskOp task : getTasks(parts::kCurvature)) {
    runDealt(task, kFactorPeriod);
    give(task, kFactorPeriod, factors);
  }
  for (TaskOp task : getTasks(parts::kInvert)) {
    runDealt(task, kInversePeriod);
    give(task, kInversePeriod, inverses[task]);
  }
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    awaitSums(Role::gradient, task.getBlock());
  llvm::MapVector<int64_t, SmallVector<TaskOp>> ofBlocks;
  for (TaskOp task : getTasks(parts::kPrecondition))
    ofBlocks[task.getBlock()].push_back(task);
  for (auto &[block, ofBlock] : ofBlocks) {
    for (auto &[invert, events] : inverses)
      if (llvm::any_of(ofBlock, [&](TaskOp task) {
            return readsOf(task, cast<TaskOp>(invert));
          }))
        awaitAll(events);
    for (TaskOp task : ofBlock)
      runDealt(task, "");
    give(ofBlock, "", directions);
  }
  awaitAll(factors);
  for (TaskOp task : getTasks(parts::kCountFactors))
    runDealt(task, kFactorPeriod);
  for (TaskOp task : getTasks(parts::kCountInverses))
    runDealt(task, kInversePeriod);
  awaitAll(directions);
  for (TaskOp task : getTasks(parts::kScale))
    runDealt(task, "");
}
