//===- ScheduleDealt.cpp - Work that some replicas do for all -------------===//
//
// If replicas share the work of a preconditioner, or the updates of matrices,
// some of them run each of these tasks for all copies. The results are sent to
// the replicas that need them: inverses to those that use them, preconditioned
// gradients and updated parameters to all. They are sent on the queue of sums,
// while other tasks run.
//===----------------------------------------------------------------------===//

#include "Kfac/KfacParts.h"
#include "Schedule/ScheduleBuilder.h"
#include "Tasks/CopyUses.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Returns whether only some replicas run one of these tasks.
static bool isAnyDealt(ArrayRef<TaskOp> tasks) {
  return llvm::any_of(tasks, [](TaskOp task) { return task.getReplicas(); });
}

bool ScheduleBuilder::isDealt() const {
  return llvm::any_of(tasks, [](const auto &ofPart) {
    return ofPart.first != parts::kUpdate && isAnyDealt(ofPart.second);
  });
}

bool ScheduleBuilder::dealsUpdates() const {
  return isAnyDealt(getTasks(parts::kUpdate));
}

/// Returns whether the results of a task in this role are sent to other
/// replicas.
static bool isGiven(Role role) {
  return role == Role::gradient || role == Role::output ||
         role == Role::curvature || role == Role::parameter ||
         role == Role::optimizer_state;
}

/// Finds the ranges of the variables that the task writes, by segment. Adjacent
/// variables form one range. If copies have slabs, a range is that of one copy.
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
    if (segment.getCopyBytes() == 0)
      size += (countStoredCopies(variable) - 1) * place->getStride();
    bytes[{place->getSegment(), place->getOffset()}] = size;
  }
  SmallVector<Range> ranges;
  for (auto [at, size] : bytes) {
    auto [number, offset] = at;
    auto segment = cast<SegmentAttr>(table[number]);
    if (size == 0)
      continue;
    Range *last = ranges.empty() ? nullptr : &ranges.back();
    // Variables begin at multiples of a cache line's size.
    constexpr int64_t kLine = 64;
    if (last && last->segment == number &&
        llvm::alignTo(last->end, kLine) == uint64_t(offset))
      last->end = offset + size;
    else
      ranges.push_back({number, offset, offset + size, segment.getCopyBytes()});
  }
  return ranges;
}

/// Finds the results of a task of some replicas that have to be sent to other
/// holders of their segments.
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

/// Sends the gifts after all tasks so far are done. Adds to `all` what is in
/// flight, if anything is.
void ScheduleBuilder::give(ArrayRef<Gift> gifts, StringRef period,
                           SmallVectorImpl<Underway> &all) {
  if (gifts.empty())
    return;
  int64_t computed = getDealtEvent(nextDealt++);
  int64_t there = getDealtEvent(nextDealt++);
  ArrayAttr table = SegmentAttr::getTable(module);
  bool isForOtherStages = llvm::any_of(gifts, [&](const Gift &gift) {
    return !cast<SegmentAttr>(table[gift.range.segment]).getReaders().empty();
  });
  all.push_back({there, isForOtherStages});
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
  record(there, kSums);
}

/// Sends the results of the tasks to the replicas that need them.
void ScheduleBuilder::give(ArrayRef<TaskOp> given, StringRef period,
                           SmallVectorImpl<Underway> &all) {
  SmallVector<Gift> gifts;
  for (TaskOp task : given)
    llvm::append_range(gifts, findGifts(task));
  give(gifts, period, all);
}

void ScheduleBuilder::awaitAll(ArrayRef<Underway> all) {
  for (const Underway &each : all)
    await(each.event, kTasks);
}

void ScheduleBuilder::awaitForOtherStages(ArrayRef<Underway> all) {
  for (const Underway &each : all)
    if (each.isForOtherStages)
      await(each.event, kTasks);
}

/// Sends moments to the stages that read them. Moments of a single group's
/// samples are first sent to all replicas of this stage, because each replica
/// sends moments to the replica of the other stage that belongs to it.
void ScheduleBuilder::giveMoments() {
  MLIRContext *context = module.getContext();
  int64_t replicas = getReplicas();
  SmallVector<Gift> gifts;
  for (auto [number, group] : groupOf) {
    auto segment = cast<SegmentAttr>(SegmentAttr::getTable(module)[number]);
    if (isOwn(segment) && !segment.getReaders().empty() && replicas > 1)
      gifts.push_back({{number, 0, segment.getBytes(), /*stride=*/0},
                       ReplicasAttr::get(context, group % replicas, 1, 1),
                       ReplicasAttr::get(context, 0, replicas, 1)});
  }
  SmallVector<Underway> underway;
  give(gifts, kFactorPeriod, underway);
  awaitAll(underway);
  every(kFactorPeriod, DueKind::any, [&] { giveOnce(Role::moment); });
}

/// Runs a task for the copies that are due in this period, or for all copies if
/// there is no period.
void ScheduleBuilder::runDealt(TaskOp task, StringRef period) {
  inTurnsIf(task.getByCopies(), [&] {
    if (period.empty())
      run(task);
    else
      every(period, DueKind::due, [&] { run(task); });
  });
}

/// Returns whether a task reads a segment that another one writes. The tasks
/// may be of different blocks, since layers of several blocks may share an
/// inverse.
static bool readsOf(TaskOp reader, TaskOp writer) {
  return llvm::any_of(writer.getWrites(), [&](int64_t segment) {
    return llvm::is_contained(reader.getReads(), segment);
  });
}

/// Runs inversions. Results that other stages read are sent to them after all
/// replicas of this stage have received them.
void ScheduleBuilder::invertTogether(Inverses &inverses) {
  for (TaskOp task : getTasks(parts::kInvert)) {
    runDealt(task, kInversePeriod);
    give(task, kInversePeriod, inverses[task]);
  }
  for (auto &[task, underway] : inverses)
    awaitForOtherStages(underway);
  every(kInversePeriod, DueKind::any,
        [&] { giveOnce(Role::curvature, parts::kInvert); });
}

/// Runs preconditioning. Waits for inverses only where they are used, and sends
/// a block's gradients as soon as all of them are preconditioned.
void ScheduleBuilder::preconditionBlocks(
    const Inverses &inverses, SmallVectorImpl<Underway> &directions) {
  llvm::MapVector<int64_t, SmallVector<TaskOp>> ofBlocks;
  for (TaskOp task : getTasks(parts::kPrecondition))
    ofBlocks[task.getBlock()].push_back(task);
  for (auto &[block, ofBlock] : ofBlocks) {
    for (auto &[invert, underway] : inverses) {
      auto writer = cast<TaskOp>(invert);
      if (llvm::any_of(ofBlock,
                       [&](TaskOp task) { return readsOf(task, writer); }))
        awaitAll(underway);
    }
    for (TaskOp task : ofBlock)
      runDealt(task, "");
    give(ofBlock, "", directions);
  }
}

/// Does the same work as precondition(), but for all copies together. Counts
/// are added up while everything else is in flight.
void ScheduleBuilder::preconditionTogether() {
  awaitSums(Role::result, -1);
  awaitMoments();
  giveMoments();
  SmallVector<Underway> factors, directions;
  for (TaskOp task : getTasks(parts::kCurvature)) {
    runDealt(task, kFactorPeriod);
    give(task, kFactorPeriod, factors);
  }
  awaitForOtherStages(factors);
  every(kFactorPeriod, DueKind::any,
        [&] { giveOnce(Role::curvature, parts::kCurvature); });
  Inverses inverses;
  invertTogether(inverses);
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    awaitSums(Role::gradient, task.getBlock());
  preconditionBlocks(inverses, directions);
  awaitAll(factors);
  for (TaskOp task : getTasks(parts::kCountFactors))
    runDealt(task, kFactorPeriod);
  for (TaskOp task : getTasks(parts::kCountInverses))
    runDealt(task, kInversePeriod);
  awaitAll(directions);
  runScale();
}
