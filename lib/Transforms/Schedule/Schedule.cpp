//===- Schedule.cpp - The order of a step, and its transfers --------------===//
//
// Commands of queue 0 run tasks. Queue 1 uploads the fields of the next
// micro-batch, even if it is in the next step, while tasks use those of the
// current one. Two events order the queues: `uploaded` says that the fields of
// a micro-batch are in their place, and `used` that tasks no longer need that
// place. If a step has several groups, queue 2 adds up their sums, block by
// block, as soon as a block's last backward is done. Tasks continue with a
// block as soon as its sums are complete.
//===----------------------------------------------------------------------===//

#include "Hfta/Transforms/Kfac/PlannedKfac.h"
#include "Hfta/Transforms/Passes.h"
#include "Pipeline/StageOrder.h"
#include "Schedule/ScheduleBuilder.h"
#include "Schedule/ScheduledTasks.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASCHEDULE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void ScheduleBuilder::forward() {
  for (TaskOp task : getTasks(parts::kForward)) {
    runVersions(task);
    if (job.overlap)
      tellMoments(static_cast<int64_t>(task.getBlock()));
  }
}

void ScheduleBuilder::forwardBackward() {
  forward();
  backward();
}

/// Tells the queue of sums, by an event, that a micro-batch has added to the
/// results (block -1) or to the gradients of a block.
void ScheduleBuilder::tellSums(int64_t block) {
  if (getGroups() > 1 && job.overlap)
    record(getSumEvent(/*isSummed=*/false, block), kTasks);
}

/// Runs the backward of one micro-batch. A block's recomputed values exist only
/// during the block's own backwards, from drawn targets and from the labels.
void ScheduleBuilder::backward() {
  tellSums(-1);
  bool computesAgain = !getTasks(parts::kRecompute).empty();
  if (!computesAgain)
    runSampled(getTasks(parts::kSampledMoments));
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward))) {
    if (TaskOp again = findVersion(task, parts::kRecompute))
      run(again);
    TaskOp sampled = findVersion(task, parts::kSampledMoments);
    if (computesAgain && sampled)
      runSampled(sampled);
    runVersions(task);
    tellSums(static_cast<int64_t>(task.getBlock()));
  }
}

/// Runs the update. If sums are added up, it begins with the last block, whose
/// sums are complete first. With several stages, the last one sends the divisor
/// of the loss to all others. Each stage sends its norms to all others, and its
/// updated weights to the stages that use them. Replicas send each other the
/// parameters that only some of them update.
void ScheduleBuilder::runUpdate() {
  awaitSums(Role::result, -1);
  giveOnce(Role::result, parts::kForward);
  if (!isDealt())
    precondition();
  else if (isStage())
    preconditionTogether();
  SmallVector<Underway> parameters;
  for (StringRef part : {parts::kNorm, parts::kClip, parts::kUpdate}) {
    llvm::MapVector<int64_t, SmallVector<TaskOp>> inOrder;
    for (TaskOp task : getTasks(part))
      inOrder[task.getBlock()].push_back(task);
    auto ofBlocks = inOrder.takeVector();
    if (getGroups() > 1)
      std::reverse(ofBlocks.begin(), ofBlocks.end());
    for (auto &[block, ofBlock] : ofBlocks) {
      for (TaskOp task : ofBlock) {
        awaitSums(Role::gradient, task.getBlock());
        inTurnsIf(exchangesResults() && task.getByCopies(), [&] { run(task); });
      }
      // Parameters are sent while other blocks are updated.
      if (part == parts::kUpdate)
        give(ofBlock, "", parameters);
    }
    if (part == parts::kNorm)
      giveOnce(Role::output, parts::kNorm);
  }
  awaitAll(parameters);
  giveOnce(Role::parameter, parts::kUpdate);
}

/// Runs forward and backward of all micro-batches. If all forwards come first,
/// the fields of each micro-batch stay in place for its backward. Running
/// statistics are updated with those of the micro-batches in order, when all of
/// the latter exist.
void ScheduleBuilder::accumulate() {
  if (isStage())
    return runActions();
  if (job.microBatches == 1) {
    bool byCopies =
        runByCopies({parts::kForward, parts::kForwardMoments, parts::kRecompute,
                     parts::kBackward, parts::kBackwardMoments,
                     parts::kSampledMoments, parts::kStatistics});
    overUploads([&] {
      runAll(parts::kAugment);
      addSharedMoments();
      inTurnsIf(byCopies, [&] {
        forwardBackward();
        runAll(parts::kStatistics);
      });
    });
    return;
  }
  bool byCopies = runByCopies(
      {parts::kForward, parts::kForwardMoments, parts::kRecompute,
       parts::kBackward, parts::kBackwardMoments, parts::kSampledMoments});
  overUploads([&] {
    runAll(parts::kAugment);
    addSharedMoments();
    if (job.allForwardsFirst)
      forward();
    else
      inTurnsIf(byCopies, [&] { forwardBackward(); });
  });
  if (job.allForwardsFirst)
    overMicroBatches([&] { backward(); });
}

/// Runs the commands between the micro-batches and the update: adds up the sums
/// of groups (those of gradients only in a step, which has an update), and
/// updates running statistics with those of all ranks' micro-batches, in order.
void ScheduleBuilder::finishMicroBatches(bool alsoGradients) {
  if (job.microBatches == 1 && !isStage())
    return;
  // Without overlap, nothing is added up during the backward.
  if (getGroups() > 1 && !job.overlap) {
    for (TaskOp task : getTasks(parts::kBackward)) {
      record(getSumEvent(/*isSummed=*/false, task.getBlock()), kTasks);
      tellMoments(static_cast<int64_t>(task.getBlock()));
    }
    record(getSumEvent(/*isSummed=*/false, -1), kTasks);
  }
  // These sums come before the commands that wait for all forwards.
  if (alsoGradients)
    sumUpForwardMoments(/*isInStep=*/true);
  gatherStatistics();
  sumUp(Role::result, -1);
  if (alsoGradients)
    sumUpGradients(/*isInStep=*/true);
  if (gathers())
    await(getGathered(), kTasks);
  repeat(RepeatKind::all_micro_batches, [&] {
    inTurnsIf(runByCopies({parts::kStatistics}),
              [&] { runAll(parts::kStatistics); });
  });
}

void ScheduleBuilder::update() {
  bool byCopies = runByCopies({parts::kNorm, parts::kClip, parts::kUpdate});
  nextDealt = 0;
  if (isDealt() && !isStage())
    preconditionTogether();
  else
    byCopies &= runByCopies({parts::kCurvature, parts::kInvert,
                             parts::kPrecondition, parts::kScale});
  inTurnsIf(byCopies && !exchangesResults(), [&] { runUpdate(); });
  clearMoments();
}

void ScheduleBuilder::buildInitialize() {
  uploadScalars(/*ofMicroBatches=*/false);
  repeat(RepeatKind::all_micro_batches,
         [&] { uploadScalars(/*ofMicroBatches=*/true); });
  inTurnsIf(runByCopies({parts::kInit}), [&] { runAll(parts::kInit); });
  giveOnce(Role::parameter, parts::kInit);
}

/// Builds `body` for the tasks of each of the job's turns.
void ScheduleBuilder::overTurns(Body body) {
  for (size_t turn = 0; turn < job.turns.size(); ++turn) {
    chooseTurn(static_cast<int64_t>(turn));
    body();
  }
  chooseStage(-1);
}

/// Runs forward and backward of a turn, for all micro-batches.
void ScheduleBuilder::accumulateTurn() {
  if (job.microBatches == 1) {
    bool byCopies =
        runByCopies({parts::kForward, parts::kBackward, parts::kStatistics});
    inTurnsIf(byCopies, [&] {
      forwardBackward();
      runAll(parts::kStatistics);
    });
    return;
  }
  bool byCopies = runByCopies({parts::kForward, parts::kBackward});
  overMicroBatches([&] { inTurnsIf(byCopies, [&] { forwardBackward(); }); });
  finishMicroBatches(/*alsoGradients=*/true);
}

/// Builds a step that goes through several turns, each of which ends with an
/// update, or all of which end with their updates. The fields of all
/// micro-batches stay in place, as each turn uses them.
void ScheduleBuilder::buildStepOfTurns() {
  bool inTurn = job.updatesInTurn();
  if (stepsByCopies()) {
    overUploads([&] {
      repeat(RepeatKind::turns, [&] {
        overTurns([&] {
          forwardBackward();
          runAll(parts::kStatistics);
          if (inTurn)
            runUpdate();
        });
        if (!inTurn)
          overTurns([&] { runUpdate(); });
      });
    });
    return;
  }
  overAllUploads([&] {
    overTurns([&] {
      accumulateTurn();
      if (inTurn)
        update();
    });
    if (!inTurn)
      overTurns([&] { update(); });
  });
}

/// Builds a step. With one micro-batch, the copies of a turn run the whole step
/// before the next turn's copies begin. These reuse the memory of the
/// gradients, which the update has cleared.
void ScheduleBuilder::buildStep() {
  hasAllRows = true;
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  if (job.takesTurns()) {
    buildStepOfTurns();
  } else if (stepsByCopies()) {
    overUploads([&] {
      runAll(parts::kAugment);
      addSharedMoments();
      repeat(RepeatKind::turns, [&] {
        forwardBackward();
        runAll(parts::kStatistics);
        runUpdate();
      });
    });
    clearMoments();
  } else {
    accumulate();
    finishMicroBatches(/*alsoGradients=*/true);
    update();
  }
  reportLosses();
  hasAllRows = false;
}

void ScheduleBuilder::buildAccumulate() {
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  accumulate();
  finishMicroBatches(/*alsoGradients=*/false);
  reportLosses();
}

void ScheduleBuilder::buildUpdate() {
  uploadScalars(/*ofMicroBatches=*/false);
  sumUpForwardMoments(/*isInStep=*/false);
  sumUpGradients(/*isInStep=*/false);
  update();
  // The update itself computes results.
  if (preconditions() || !job.lossScale.empty())
    downloadResults();
}

void ScheduleBuilder::buildEvaluate() {
  evaluates = true;
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  overUploads([&] {
    uploadScalars(/*ofMicroBatches=*/true);
    if (isStage())
      return evaluateStage();
    inTurnsIf(runByCopies({parts::kEvaluate}),
              [&] { runAll(parts::kEvaluate); });
  });
  if (getGroups() > 1) {
    record(getSumEvent(/*isSummed=*/false, -1), kTasks);
    sumUp(Role::result, -1);
    awaitSums(Role::result, -1);
  }
  downloadResults();
  evaluates = false;
}

void ScheduleBuilder::buildInfer() {
  uploadScalars(/*ofMicroBatches=*/false);
  uploadPorts();
  inTurnsIf(runByCopies({parts::kInfer}), [&] { runAll(parts::kInfer); });
}

void ScheduleBuilder::buildSchedule(StringRef name, Body body) {
  builder.setInsertionPointToEnd(module.getBody());
  auto schedule =
      ScheduleOp::create(builder, getLoc(), ScheduleOp::makeName(name, stage),
                         stage, ArrayRef<int64_t>());
  builder.setInsertionPointToEnd(&schedule.getBody().emplaceBlock());
  body();
  SymbolTableCollection symbols;
  schedule.setKeeps(schedule.findKept(symbols));
}

/// Returns the groups of segments, given the groups of their variables.
static std::map<int64_t, int64_t>
findGroups(ModuleOp module, const llvm::StringMap<int64_t> &ofVariables) {
  std::map<int64_t, int64_t> groups;
  for (auto variable : module.getOps<VariableOp>())
    if (auto group = ofVariables.find(variable.getSymName());
        group != ofVariables.end())
      groups[variable.getLocation()->getSegment()] = group->second;
  return groups;
}

ScheduleBuilder::ScheduleBuilder(ModuleOp module, const Job &job,
                                 const planning::Order &order,
                                 const llvm::StringMap<int64_t> &groups)
    : module(module), job(job), builder(module.getContext()),
      groupOf(findGroups(module, groups)), sums(module, job, groupOf),
      order(order) {
  llvm::append_range(all, module.getOps<TaskOp>());
  auto getBlock = [](TaskOp task) {
    return static_cast<int64_t>(task.getBlock());
  };
  llvm::sort(all, [&](TaskOp a, TaskOp b) {
    return getBlock(a) == getBlock(b) ? a->isBeforeInBlock(b)
                                      : getBlock(a) < getBlock(b);
  });
  if (job.getStageCount() > 1)
    resultBlock = getBlock(all.back());
}

/// Chooses the tasks of a stage: those of its blocks, those that belong to no
/// block, such as the clip, and in the last stage those that belong to the last
/// block.
void ScheduleBuilder::chooseStage(int64_t which) {
  stage = which;
  tasks.clear();
  for (TaskOp task : all) {
    int64_t of = job.getStage(static_cast<int64_t>(task.getBlock()));
    StringRef part = task.getPart();
    if (of < 0 && parts::isOfLastBlock(part))
      of = job.getStage(resultBlock);
    // An inference isn't divided into stages.
    bool isOwn = part != parts::kInfer && (of == stage || of < 0);
    if (!isStage() || isOwn)
      tasks[part.str()].push_back(task);
  }
}

/// Chooses the tasks of one of the job's turns.
void ScheduleBuilder::chooseTurn(int64_t which) {
  tasks.clear();
  for (TaskOp task : all)
    if (static_cast<int64_t>(task.getBlock()) == which)
      tasks[task.getPart().str()].push_back(task);
}

void ScheduleBuilder::buildTraining() {
  if (!getTasks(parts::kForward).empty() && job.hasBudget()) {
    buildSchedule(schedules::kStep, [&] { buildStepByBlocks(); });
  } else if (!getTasks(parts::kForward).empty()) {
    buildSchedule(schedules::kStep, [&] { buildStep(); });
    // Between the turns of a step are updates.
    if (!job.takesTurns()) {
      buildSchedule(schedules::kAccumulate, [&] { buildAccumulate(); });
      buildSchedule(schedules::kUpdate, [&] { buildUpdate(); });
    }
  }
  if (!getTasks(parts::kEvaluate).empty())
    buildSchedule(schedules::kEvaluate, [&] { buildEvaluate(); });
}

/// Builds all schedules. Schedules that need the whole model aren't divided
/// into stages.
void ScheduleBuilder::build() {
  chooseStage(-1);
  buildSchedule(schedules::kInitialize, [&] { buildInitialize(); });
  if (job.getStageCount() == 1)
    buildTraining();
  if (!getTasks(parts::kInfer).empty())
    buildSchedule(schedules::kInfer, [&] { buildInfer(); });
  for (int64_t next = 0; job.getStageCount() > 1 && next < job.getStageCount();
       ++next) {
    chooseStage(next);
    buildSchedule(schedules::kInitialize, [&] { buildInitialize(); });
    buildTraining();
  }
}

namespace {
struct SchedulePass : hfta::impl::HftaScheduleBase<SchedulePass> {
  using HftaScheduleBase::HftaScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::readPlanned(module);
    if (failed(job))
      return signalPassFailure();
    planning::Order order;
    if (job->getStageCount() > 1) {
      FailureOr<planning::Order> made = makeStageOrder(module, *job);
      if (failed(made))
        return signalPassFailure();
      order = std::move(*made);
    }
    FailureOr<llvm::StringMap<int64_t>> groups = findGroupsOfMoments(module);
    if (failed(groups))
      return signalPassFailure();
    convertTasks(module);
    ScheduleBuilder(module, *job, order, *groups).build();
  }
};
} // namespace
