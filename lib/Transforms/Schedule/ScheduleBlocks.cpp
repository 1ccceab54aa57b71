//===- ScheduleBlocks.cpp - A step block by block, within a budget --------===//
//
// With a memory budget, all micro-batches of a step pass through one block
// before the next block begins. So a block's data are fetched only twice per
// step, for forward and for backward, however many micro-batches there are. A
// block's update follows its backward, so that its gradients and its optimizer
// state need memory at no other time. If a step has sums of several groups,
// they are added up in between.
//===----------------------------------------------------------------------===//

#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

/// Runs `body` for each micro-batch. A single one needs no loop. But with
/// several stages there is always a loop, as messages between stages belong to
/// a micro-batch.
void ScheduleBuilder::overBlockMicroBatches(TaskOp task, Body body) {
  if (isStage())
    overMessages(task, body);
  else if (job.microBatches > 1)
    overMicroBatches(body);
  else
    body();
}

/// Returns whether updates need results of the backwards of all blocks.
bool ScheduleBuilder::updatesAtLast() const {
  return !getTasks(parts::kClip).empty() || preconditions();
}

/// Adds up the sums of groups, and waits for the total.
void ScheduleBuilder::sumUpAtOnce(Role role, int64_t block) {
  if (!hasSums(role, block))
    return;
  record(getSumEvent(/*isSummed=*/false, block), kTasks);
  sumUp(role, block);
  awaitSums(role, block);
}

/// Returns whether updates read results to which the micro-batches of all
/// groups add, such as the sum of weights by which gradients are divided. Such
/// results of all copies are added up together.
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

/// Updates running statistics with those of a step's micro-batches, in order,
/// when the statistics of all ranks exist.
void ScheduleBuilder::runStatistics() {
  if (job.microBatches > 1)
    repeat(RepeatKind::all_micro_batches, [&] { runAll(parts::kStatistics); });
  else
    runAll(parts::kStatistics);
}

/// Runs a block's backward, and the tasks that can follow it directly.
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

/// Runs the tasks from moments to preconditioned gradients, part by part, since
/// a factor may use moments of several blocks.
void ScheduleBuilder::preconditionByBlocks() {
  for (TaskOp task : getTasks(parts::kCurvature))
    every(kFactorPeriod, DueKind::due, [&] { run(task); });
  for (TaskOp task : getTasks(parts::kInvert))
    every(kInversePeriod, DueKind::due, [&] { run(task); });
  runAll(parts::kPrecondition);
  runAll(parts::kScale);
  runAll(parts::kNorm);
}

/// Builds the commands of a whole step for the copies of one turn. In a
/// pipeline, the last stage sends the divisor of the loss to all stages. If
/// updates wait for norms, each stage sends the norms of its gradients to all
/// others. Finally, it sends updated weights to the stages that use them.
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
    // The first block comes first: its gradients were computed last.
    runAll(parts::kUpdate);
  }
  giveOnce(Role::parameter, parts::kUpdate);
}

/// Exchanges the data that belong to all copies together between ranks.
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
