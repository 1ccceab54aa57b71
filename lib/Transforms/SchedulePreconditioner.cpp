//===- SchedulePreconditioner.cpp - K-FAC's commands in a step ------------===//
//
// Moments are taken beside forward and backward in steps that are due for them,
// and only for copies that are; behind the last backward the running means,
// inverses and preconditioned gradients follow, which updates take.
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Tasks of which those copies run a second version that are due for moments.
void ScheduleBuilder::runVersions(TaskOp task, StringRef secondPart) {
  const auto *second = llvm::find_if(getTasks(secondPart), [&](TaskOp other) {
    return other.getBlock() == task.getBlock();
  });
  if (second == getTasks(secondPart).end())
    return run(task);
  every(kFactorPeriod, DueKind::due, [&] { run(*second); });
  every(kFactorPeriod, DueKind::others, [&] { run(task); });
}

/// What all copies share of moments, once for all of them.
void ScheduleBuilder::addSharedMoments() {
  every(kFactorPeriod, DueKind::any, [&] { runAll(parts::kSharedMoments); });
}

/// Moments of what all copies share are used up when all copies have taken
/// them; a copy's own it clears itself.
void ScheduleBuilder::clearSharedMoments() {
  every(kFactorPeriod, DueKind::any, [&] {
    forSegments(Role::moment, [&](int64_t number, SegmentAttr segment) {
      if (segment.getCopyBytes() == 0)
        FillOp::create(builder, getLoc(), segment.getBytes(),
                       getPlace(Space::segment, number), /*device=*/0, kTasks);
    });
  });
}

/// From moments to what updates take in the gradients' place.
void ScheduleBuilder::precondition() {
  if (getTasks(parts::kPrecondition).empty())
    return;
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    awaitSums(Role::gradient, task.getBlock());
  every(kFactorPeriod, DueKind::due, [&] { runAll(parts::kCurvature); });
  every(kInversePeriod, DueKind::due, [&] { runAll(parts::kInvert); });
  runAll(parts::kPrecondition);
  runAll(parts::kScale);
}
