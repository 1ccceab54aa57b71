//===- ScheduleBlocks.cpp - A step block by block, within a budget --------===//
//
// With a budget of memory all micro-batches of a step go through one block
// before the next one's turn comes, so that what the block needs comes into
// memory twice a step, for forward and for backward, however many micro-batches
// there are. A block's update follows its backward: neither its gradients nor
// the optimizer's state need a place at any other time. Where a step forms
// several groups' sums, these are added up in between.
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Outside of micro-batches of a step that is one; with several stages in a
/// loop all the same, as what these say to each other is a micro-batch's.
void ScheduleBuilder::overBlockMicroBatches(TaskOp task, Body body) {
  if (isStage())
    overMessages(task, body);
  else if (job.microBatches > 1)
    overMicroBatches(body);
  else
    body();
}

/// Whether updates need what the backwards of all blocks give.
bool ScheduleBuilder::updatesAtLast() const {
  return !getTasks(parts::kClip).empty() || preconditions();
}

/// Adds up what the groups' micro-batches have left, and goes on with the sums.
void ScheduleBuilder::sumUpAtOnce(Role role, int64_t block) {
  if (!hasSums(role, block))
    return;
  record(getSumEvent(/*isSummed=*/false, block), kTasks);
  sumUp(role, block);
  awaitSums(role, block);
}

/// Whether updates read what all groups' micro-batches have added to results,
/// such as the sum of weights that gradients are divided by. Results of all
/// copies are added up together.
bool ScheduleBuilder::needsResults() const {
  ArrayAttr segments = SegmentAttr::getTable(module);
  auto isResult = [&](int64_t number) {
    auto segment = cast<SegmentAttr>(segments[number]);
    return segment.getRole() == Role::result && segment.getInstances() > 1;
  };
  auto readsResults = [&](TaskOp task) {
    return llvm::any_of(task.getReads(), isResult);
  };
  StringRef readers[] = {parts::kNorm, parts::kClip, parts::kUpdate};
  return llvm::any_of(readers, [&](StringRef part) {
    return llvm::any_of(getTasks(part), readsResults);
  });
}

/// Of a step's micro-batches, in order, when those of all ranks are there.
void ScheduleBuilder::runStatistics() {
  if (job.microBatches > 1)
    repeat(RepeatKind::all_micro_batches, [&] { runAll(parts::kStatistics); });
  else
    runAll(parts::kStatistics);
}

/// A block's backward, and what may follow at once.
void ScheduleBuilder::backwardOfBlock(TaskOp task) {
  overBlockMicroBatches(task, [&] {
    if (TaskOp recompute = findVersion(task, parts::kRecompute))
      run(recompute);
    runVersions(task);
  });
  sumUpAtOnce(Role::gradient, static_cast<int64_t>(task.getBlock()));
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

/// One turn's copies go through the whole step. Of several stages the last one
/// gives the loss' divisor to all, each its norms to all, and weights to those
/// that use them too.
void ScheduleBuilder::stepByBlocks() {
  if (isStage())
    beginMessages();
  for (TaskOp task : getTasks(parts::kForward))
    overBlockMicroBatches(task, [&] { runVersions(task); });
  if (isStage() || needsResults())
    sumUpAtOnce(Role::result, -1);
  giveOnce(Role::result, parts::kForward);
  for (TaskOp task : llvm::reverse(getTasks(parts::kSampledMoments)))
    overBlockMicroBatches(task, [&] {
      every(kFactorPeriod, DueKind::due, [&] {
        if (TaskOp recompute = findVersion(task, parts::kRecompute))
          run(recompute);
        run(task);
      });
    });
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    backwardOfBlock(task);
  if (!gathers())
    runStatistics();
  if (preconditions())
    preconditionByBlocks();
  if (updatesAtLast()) {
    giveOnce(Role::output, parts::kNorm);
    runAll(parts::kClip);
    // Beginning with the block whose gradients were the last ones.
    runAll(parts::kUpdate);
  }
  giveOnce(Role::parameter, parts::kUpdate);
}

/// What ranks exchange of all copies together.
void ScheduleBuilder::finishBlocks() {
  if (!isStage() && !needsResults())
    sumUpAtOnce(Role::result, -1);
  if (!gathers())
    return;
  record(getSumEvent(/*isSummed=*/false, -1), kTasks);
  gatherStatistics();
  await(getGathered(), kTasks);
  inTurnsIf(!isStage() && runByCopies({parts::kStatistics}),
            [&] { runStatistics(); });
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
    inTurnsIf(byCopies && !isStage() && !needsResults(),
              [&] { stepByBlocks(); });
  });
  finishBlocks();
  clearMoments();
  reportLosses();
  hasAllRows = false;
}
