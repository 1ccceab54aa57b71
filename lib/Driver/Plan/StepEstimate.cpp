//===- StepEstimate.cpp - The estimated time of a planned step ------------===//

#include "Plan/StepEstimate.h"

#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Pipelines/TaskCosts.h"
#include "Hfta/Planning/Common/ReferenceRates.h"
#include "Hfta/Transforms/Verify/SimulateSchedule.h"
#include "Plan/LowerCopy.h"

using namespace mlir;
using namespace mlir::hfta;

/// Estimates the seconds of a task for all copies: on a target's devices, the
/// least time on the first of them; else, from documented rates, the overhead
/// of each kernel, plus the longer of the times for computing and for moving
/// bytes.
static double estimateSeconds(const TaskCost &cost) {
  if (!cost.deviceSeconds.empty())
    return cost.deviceSeconds.front();
  auto bytes = static_cast<double>(cost.bytesRead + cost.bytesWritten);
  return static_cast<double>(cost.kernels) * planning::kSecondsPerKernel +
         std::max(static_cast<double>(cost.flops) / planning::kFlopsPerSecond,
                  bytes / planning::kBytesPerSecond);
}

/// Estimates the tasks that weren't measured. If the total time of a part was
/// measured, each of its tasks gets a share of it in proportion to the
/// estimates.
static void estimateTheRest(ArrayRef<TaskCost> tasks, StepCosts &costs) {
  auto getPart = [](const TaskCost &cost) {
    return StringRef(cost.name).split('.').first;
  };
  llvm::StringMap<double> sums;
  for (const TaskCost &cost : tasks)
    sums[getPart(cost)] += estimateSeconds(cost);
  for (const TaskCost &cost : tasks) {
    double seconds = estimateSeconds(cost);
    auto measured = costs.parts.find(getPart(cost));
    if (measured != costs.parts.end() && seconds > 0)
      seconds *= measured->second / sums[getPart(cost)];
    costs.tasks.try_emplace(cost.name, seconds);
  }
}

FailureOr<StepCosts> hfta::estimateTasks(ModuleOp planned, const Job &job) {
  FailureOr<std::optional<StepCosts>> measured = StepCosts::read(planned);
  if (failed(measured))
    return failure();
  StepCosts costs = measured->value_or(StepCosts());
  estimateTheRest(getTaskCosts(planned, job.copies), costs);
  return costs;
}

/// Simulates each stage without the others.
static LogicalResult simulateStages(ModuleOp scheduled, const Job &job,
                                    const StepCosts &costs,
                                    std::vector<planning::SpillRun> &steps) {
  int64_t count = job.getStageCount();
  for (int64_t stage = 0; stage < count; ++stage) {
    FailureOr<planning::SpillRun> step =
        simulateSchedule(scheduled, job, costs, count == 1 ? -1 : stage);
    if (failed(step))
      return failure();
    steps.push_back(std::move(*step));
  }
  return success();
}

FailureOr<StepEstimate> hfta::estimateStep(ModuleOp planned, const Job &job) {
  FailureOr<StepCosts> costs = estimateTasks(planned, job);
  if (failed(costs))
    return failure();
  StepEstimate estimate;
  estimate.isMeasured = StepCosts::read(planned)->has_value();
  estimate.costs = std::move(*costs);
  estimate.scheduled = lowerCopy(planned, [](OpPassManager &passes) {
    buildScheduledPipeline(passes, ScheduledPipelineOptions());
  });
  if (!estimate.scheduled ||
      failed(simulateStages(*estimate.scheduled, job, estimate.costs,
                            estimate.steps)))
    return failure();
  return estimate;
}

double hfta::getStepSeconds(ArrayRef<planning::SpillRun> steps) {
  if (steps.size() == 1)
    return steps.front().seconds;
  double seconds = 0;
  for (const planning::SpillRun &step : steps)
    seconds += step.computeSeconds;
  return seconds;
}

LogicalResult hfta::noteStepSeconds(ModuleOp scheduled, const Job &job,
                                    const StepCosts &costs) {
  std::vector<planning::SpillRun> steps;
  if (failed(simulateStages(scheduled, job, costs, steps)))
    return failure();
  scheduled->setAttr(
      HftaDialect::kStepSecondsAttrName,
      Builder(scheduled.getContext()).getF64FloatAttr(getStepSeconds(steps)));
  return success();
}
