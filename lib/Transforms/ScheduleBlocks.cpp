//===- ScheduleBlocks.cpp - A step block by block, within a budget --------===//
//
// With a budget of memory all micro-batches of a step go through one block
// before the next one's turn comes, so that what the block needs comes into
// memory twice a step, for forward and for backward, however many micro-batches
// there are. A block's update follows its backward: neither its gradients nor
// the optimizer's state need a place at any other time.
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Outside of micro-batches of a step that is one.
void ScheduleBuilder::overBlockMicroBatches(Body body) {
  if (job.microBatches > 1)
    overMicroBatches(body);
  else
    body();
}

/// Whether updates need what the backwards of all blocks give.
bool ScheduleBuilder::updatesAtLast() const {
  return !getTasks(parts::kClip).empty() || preconditions();
}

/// A block's backward, and what may follow at once.
void ScheduleBuilder::backwardOfBlock(TaskOp task) {
  overBlockMicroBatches([&] {
    if (TaskOp recompute = findVersion(task, parts::kRecompute))
      run(recompute);
    runVersions(task);
  });
  if (!updatesAtLast())
    runOfBlock(task, parts::kUpdate);
  else if (!preconditions())
    runOfBlock(task, parts::kNorm);
}

void ScheduleBuilder::runOfBlock(TaskOp task, StringRef part) {
  if (TaskOp other = findVersion(task, part))
    run(other);
}

/// From moments to what updates take in the gradients' place: each part for one
/// block after the other. A factor may be of moments of several blocks.
void ScheduleBuilder::preconditionByBlocks() {
  for (TaskOp task : getTasks(parts::kCurvature))
    every(kFactorPeriod, DueKind::due, [&] { run(task); });
  for (TaskOp task : getTasks(parts::kInvert))
    every(kInversePeriod, DueKind::due, [&] { run(task); });
  runAll(parts::kPrecondition);
  runAll(parts::kScale);
  runAll(parts::kNorm);
}

/// One turn's copies go through the whole step.
void ScheduleBuilder::stepByBlocks() {
  for (TaskOp task : getTasks(parts::kForward))
    overBlockMicroBatches([&] { runVersions(task); });
  for (TaskOp task : llvm::reverse(getTasks(parts::kSampledMoments)))
    overBlockMicroBatches([&] {
      every(kFactorPeriod, DueKind::due, [&] {
        if (TaskOp recompute = findVersion(task, parts::kRecompute))
          run(recompute);
        run(task);
      });
    });
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    backwardOfBlock(task);
  if (job.microBatches > 1)
    repeat(RepeatKind::all_micro_batches, [&] { runAll(parts::kStatistics); });
  else
    runAll(parts::kStatistics);
  if (preconditions())
    preconditionByBlocks();
  if (!updatesAtLast())
    return;
  runAll(parts::kClip);
  // Beginning with the block whose gradients were the last ones.
  runAll(parts::kUpdate);
}

void ScheduleBuilder::buildStepByBlocks() {
  hasAllRows = true;
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  bool byCopies =
      runByCopies({parts::kForward, parts::kForwardMoments, parts::kRecompute,
                   parts::kBackward, parts::kBackwardMoments,
                   parts::kSampledMoments, parts::kStatistics,
                   parts::kCurvature, parts::kInvert, parts::kPrecondition,
                   parts::kScale, parts::kNorm, parts::kClip, parts::kUpdate});
  overAllUploads([&] {
    if (job.microBatches > 1)
      overMicroBatches([&] { addSharedMoments(); });
    else
      addSharedMoments();
    inTurnsIf(byCopies, [&] { stepByBlocks(); });
  });
  clearMoments();
  reportLosses();
  hasAllRows = false;
}
