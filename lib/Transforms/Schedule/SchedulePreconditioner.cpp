//===- SchedulePreconditioner.cpp - K-FAC's commands in a step ------------===//
//
// Moments are taken during forward and backward, in steps and for copies that
// are due for them. The running means, inverses and preconditioned gradients
// follow the last backward and precede the updates. With several stages, each
// stage does this for its own blocks. It receives other stages' data that it
// reads as soon as they are new: moments of a weight's other uses, and running
// means and bases of shared inputs. The last stage receives all inner products
// and counts, and sends the scale to all stages.
//===----------------------------------------------------------------------===//

#include "Kfac/KfacParts.h"
#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Finds the task of the part in the same block; null if there is none.
TaskOp ScheduleBuilder::findVersion(TaskOp task, StringRef part) const {
  for (TaskOp other : getTasks(part))
    if (other.getBlock() == task.getBlock())
      return other;
  return {};
}

/// Returns the version that runs in place of a task: a special one if the
/// update is known to use the rows of this batch alone.
TaskOp ScheduleBuilder::findRowsVersion(TaskOp task) const {
  TaskOp version;
  if (hasAllRows)
    version = findVersion(task, parts::getRowsPart(task.getPart()));
  return version ? version : task;
}

/// Runs a task and, for copies that are due for moments, its second version
/// instead.
void ScheduleBuilder::runVersions(TaskOp task) {
  TaskOp second = findSecondVersion(task);
  if (!second)
    return run(task);
  every(kFactorPeriod, DueKind::due, [&] { run(second); });
  every(kFactorPeriod, DueKind::others, [&] { run(task); });
}

/// Runs the backward of one micro-batch from drawn targets, for some blocks and
/// for the copies that are due for moments. It comes before the other backward,
/// which signals that moments are complete.
void ScheduleBuilder::runSampled(ArrayRef<TaskOp> ofBlocks) {
  if (ofBlocks.empty())
    return;
  every(kFactorPeriod, DueKind::due, [&] {
    for (TaskOp task : llvm::reverse(ofBlocks))
      run(task);
  });
}

/// Adds up the moments that all copies share, once for all copies, of one block
/// or, with -1, of all blocks.
void ScheduleBuilder::addSharedMoments(int64_t block) {
  every(kFactorPeriod, DueKind::any, [&] {
    for (TaskOp task : getTasks(parts::kSharedMoments))
      if (block < 0 || static_cast<int64_t>(task.getBlock()) == block)
        run(task);
  });
}

/// Clears moments that all copies share, or that were sent to another stage,
/// after all copies have taken them. A copy's own moments are cleared by the
/// task that takes them.
void ScheduleBuilder::clearMoments() {
  every(kFactorPeriod, DueKind::any, [&] {
    bool isFirst = true;
    forSegments(Role::moment, [&](int64_t number, SegmentAttr segment) {
      bool isGiven = !segment.getReaders().empty();
      if (segment.getCopyBytes() != 0 && !isGiven)
        return;
      if (isGiven && isFirst) {
        awaitSentOnce();
        isFirst = false;
      }
      FillOp::create(builder, getLoc(), segment.getBytes(),
                     getPlace(Space::segment, number), /*device=*/0, kTasks);
    });
  });
}

/// Runs a part for copies that are due. Where ranks exchange results in
/// between, all copies go through a part before the next part begins.
void ScheduleBuilder::runDue(StringRef period, StringRef part) {
  inTurnsIf(exchangesResults() && runByCopies(part),
            [&] { every(period, DueKind::due, [&] { runAll(part); }); });
}

/// Runs the tasks from moments to preconditioned gradients.
void ScheduleBuilder::precondition() {
  if (!preconditions())
    return;
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    awaitSums(Role::gradient, task.getBlock());
  awaitMoments();
  giveMoments();
  runDue(kFactorPeriod, parts::kCurvature);
  every(kFactorPeriod, DueKind::any,
        [&] { giveOnce(Role::curvature, parts::kCurvature); });
  runDue(kInversePeriod, parts::kInvert);
  every(kInversePeriod, DueKind::any,
        [&] { giveOnce(Role::curvature, parts::kInvert); });
  inTurnsIf(exchangesResults() && runByCopies(parts::kPrecondition),
            [&] { runAll(parts::kPrecondition); });
  runScale();
}

/// Runs the task `scale`. The last stage receives inner products and counts,
/// and sends the scale to all stages.
void ScheduleBuilder::runScale() {
  giveOnce(Role::result, {parts::kCurvature, parts::kInvert,
                          parts::kCountFactors, parts::kCountInverses});
  giveOnce(Role::output, parts::kPrecondition);
  inTurnsIf((exchangesResults() || isDealt()) && runByCopies(parts::kScale),
            [&] { runAll(parts::kScale); });
  giveOnce(Role::result, parts::kScale);
}
