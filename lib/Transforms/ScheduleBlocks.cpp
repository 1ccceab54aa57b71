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
  StringRef next = updatesAtLast() ? parts::kNorm : parts::kUpdate;
  if (TaskOp following = findVersion(task, next))
    run(following);
}

/// One turn's copies go through the whole step.
void ScheduleBuilder::stepByBlocks() {
  for (TaskOp task : getTasks(parts::kForward))
    overBlockMicroBatches([&] { runVersions(task); });
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    backwardOfBlock(task);
  if (job.microBatches > 1)
    repeat(RepeatKind::all_micro_batches, [&] { runAll(parts::kStatistics); });
  else
    runAll(parts::kStatistics);
  if (!updatesAtLast())
    return;
  runAll(parts::kClip);
  // Beginning with the block whose backward was the last one.
  runAll(parts::kUpdate);
}

void ScheduleBuilder::buildStepByBlocks() {
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  bool byCopies = runByCopies({parts::kForward, parts::kRecompute,
                               parts::kBackward, parts::kStatistics,
                               parts::kNorm, parts::kClip, parts::kUpdate});
  overAllUploads([&] { inTurnsIf(byCopies, [&] { stepByBlocks(); }); });
  reportLosses();
}
