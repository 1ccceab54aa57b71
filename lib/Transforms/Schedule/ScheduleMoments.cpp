//===- ScheduleMoments.cpp - Moments added up during a step ---------------===//
//
// Each segment of moments is a bucket. It is added up when the last micro-batch
// has passed the block that completes it. Buckets of forwards are added up
// while other forwards, and backwards, run.
//===----------------------------------------------------------------------===//

#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Finds when a segment is complete: in the backward or in the forward of which
/// block. Moments of forwards may be in a bucket that a backward completes;
/// then the bucket is in an earlier block than the tasks that write it.
ScheduleBuilder::Ready ScheduleBuilder::findReady(int64_t segment) const {
  std::optional<int64_t> forward, backward;
  for (TaskOp task : all) {
    if (!llvm::is_contained(task.getWrites(), segment))
      continue;
    StringRef part = task.getPart();
    auto block = static_cast<int64_t>(task.getBlock());
    // The backward from drawn targets comes before the block's other backward,
    // whose event stands for both.
    if (part == parts::kBackwardMoments ||
        part == parts::kBackwardWeightMoments || part == parts::kSampledMoments)
      backward = std::min(backward.value_or(block), block);
    else if (part == parts::kForwardMoments || part == parts::kSharedMoments)
      forward = std::max(forward.value_or(block), block);
  }
  if (backward)
    return {/*isForward=*/false, *backward};
  int64_t own =
      cast<SegmentAttr>(SegmentAttr::getTable(module)[segment]).getBlock();
  bool isHere = !isStage() || (own >= 0 && job.getStage(own) == stage);
  if (own >= 0 && own < forward.value_or(0) && isHere)
    return {/*isForward=*/false, own};
  return {/*isForward=*/true, forward.value_or(0)};
}

/// Returns the moments that are complete at that point.
SmallVector<SumBucket> ScheduleBuilder::getMoments(const Ready &ready) const {
  SmallVector<SumBucket> buckets;
  for (const SumBucket &bucket : sums.getBuckets(Role::moment)) {
    Ready own = findReady(bucket.at.getNumber());
    if (own.isForward == ready.isForward && own.block == ready.block)
      buckets.push_back(bucket);
  }
  return buckets;
}

/// Records that the moments of a block's forward are complete. Moments of a
/// backward use the event of the block's gradients.
void ScheduleBuilder::tellMoments(int64_t block) {
  if (!getMoments({/*isForward=*/true, block}).empty())
    record(getMomentEvent(/*isSummed=*/false, {/*isForward=*/true, block}),
           kTasks);
}

void ScheduleBuilder::sumUpMoments(const Ready &ready, bool isInStep) {
  SmallVector<SumBucket> buckets = getMoments(ready);
  if (buckets.empty())
    return;
  if (isInStep)
    await(ready.isForward ? getMomentEvent(/*isSummed=*/false, ready)
                          : getSumEvent(/*isSummed=*/false, ready.block),
          kSums);
  every(kFactorPeriod, DueKind::any, [&] { reduceAll(buckets); });
  record(getMomentEvent(/*isSummed=*/true, ready), kSums);
}

void ScheduleBuilder::sumUpForwardMoments(bool isInStep) {
  for (TaskOp task : getTasks(parts::kForward))
    sumUpMoments({/*isForward=*/true, static_cast<int64_t>(task.getBlock())},
                 isInStep);
}

void ScheduleBuilder::awaitMoments() {
  for (bool isForward : {true, false})
    for (TaskOp task : getTasks(parts::kForward)) {
      Ready ready = {isForward, static_cast<int64_t>(task.getBlock())};
      if (!getMoments(ready).empty())
        await(getMomentEvent(/*isSummed=*/true, ready), kTasks);
    }
}

/// Takes the moments that are formed from a single group's samples, when all
/// backwards are done.
void ScheduleBuilder::takeGroups() {
  every(kFactorPeriod, DueKind::any, [&] {
    for (auto [number, group] : groupOf) {
      auto segment = cast<SegmentAttr>(SegmentAttr::getTable(module)[number]);
      if (!isOwn(segment))
        continue;
      TakeGroupOp::create(builder, getLoc(), group, segment.getBytes(),
                          getPlace(Space::segment, number), /*device=*/0,
                          kTasks);
    }
  });
}
