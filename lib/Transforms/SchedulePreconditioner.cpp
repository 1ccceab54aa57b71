//===- SchedulePreconditioner.cpp - K-FAC's commands in a step ------------===//
//
// Moments are taken beside forward and backward in steps that are due for them,
// and only for copies that are; behind the last backward the running means,
// inverses and preconditioned gradients follow, which updates take. Each of
// several stages does so for its own blocks, and gets from others what it reads
// of them as soon as that is new: moments of a weight's uses, running means and
// bases of shared inputs. The last one gets all inner products, and what was
// counted, and gives all the scale.
//===----------------------------------------------------------------------===//

#include "KfacParts.h"
#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// The task of the part that is of the same block; null if there is none.
TaskOp ScheduleBuilder::findVersion(TaskOp task, StringRef part) const {
  for (TaskOp other : getTasks(part))
    if (other.getBlock() == task.getBlock())
      return other;
  return {};
}

/// What runs in place of a task: another version of it where it is known that
/// the update will be with this batch's rows alone.
TaskOp ScheduleBuilder::findRowsVersion(TaskOp task) const {
  TaskOp version;
  if (hasAllRows)
    version = findVersion(task, parts::getRowsPart(task.getPart()));
  return version ? version : task;
}

/// Tasks of which those copies run a second version that are due for moments.
void ScheduleBuilder::runVersions(TaskOp task) {
  TaskOp second = findSecondVersion(task);
  if (!second)
    return run(task);
  every(kFactorPeriod, DueKind::due, [&] { run(second); });
  every(kFactorPeriod, DueKind::others, [&] { run(task); });
}

/// Backward of one micro-batch from drawn targets, of some blocks, for the
/// copies that are due for moments: before the other one, which tells that
/// moments are complete.
void ScheduleBuilder::runSampled(ArrayRef<TaskOp> ofBlocks) {
  if (ofBlocks.empty())
    return;
  every(kFactorPeriod, DueKind::due, [&] {
    for (TaskOp task : llvm::reverse(ofBlocks))
      run(task);
  });
}

/// What all copies share of moments, once for all of them; of one block, or of
/// all: -1.
void ScheduleBuilder::addSharedMoments(int64_t block) {
  every(kFactorPeriod, DueKind::any, [&] {
    for (TaskOp task : getTasks(parts::kSharedMoments))
      if (block < 0 || static_cast<int64_t>(task.getBlock()) == block)
        run(task);
  });
}

/// Moments that all copies share, or that another stage was given, are used up
/// when all copies have taken them; a copy's own it clears itself.
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

/// Of one stage all copies go through each part together: others wait for what
/// all of them have.
void ScheduleBuilder::runDue(StringRef period, StringRef part) {
  inTurnsIf(isStage() && runByCopies(part),
            [&] { every(period, DueKind::due, [&] { runAll(part); }); });
}

/// From moments to what updates take in the gradients' place.
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
  inTurnsIf(isStage() && runByCopies(parts::kPrecondition),
            [&] { runAll(parts::kPrecondition); });
  runScale();
}

/// The last stage gets inner products and counts, and gives all the scale.
void ScheduleBuilder::runScale() {
  giveOnce(Role::result, {parts::kCurvature, parts::kInvert,
                          parts::kCountFactors, parts::kCountInverses});
  giveOnce(Role::output, parts::kPrecondition);
  inTurnsIf((isStage() || isDealt()) && runByCopies(parts::kScale),
            [&] { runAll(parts::kScale); });
  giveOnce(Role::result, parts::kScale);
}
