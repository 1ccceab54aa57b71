//===- MemoryPlanner.cpp - Plans a step within a budget -------------------===//
//
// The planner of a step knows its tasks and what they leave each other.
// Batches, workspaces, what kernels need themselves and gaps between places in
// the arena are known when a module is lowered. So a copy is, whose blocks all
// come and go: what it has all the time isn't the planner's. Then plans are
// lowered, of which each tells how much more or less the next one may have: the
// fastest that fits is between one that fits and one that doesn't.
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Driver/Pipelines.h"
#include "Hfta/Transforms/MeasuredTasks.h"
#include "Hfta/Transforms/Passes.h"
#include "LowerCopy.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::SpillPlan;

/// How many plans are lowered, and how often one is asked for: the next one may
/// well be the same.
static constexpr size_t kMostAttempts = 8, kMostPlans = 24;

/// Parts of the budget: plans that differ by less are as good as each other.
static constexpr int64_t kParts = 256;

/// Of a module whose kernels aren't lowered, what those of its copy say.
bool MemoryPlanner::measureScratch(ModuleOp planned) {
  OwningOpRef<ModuleOp> copy = lowerCopy(planned, buildScratchPipeline);
  std::optional<int64_t> bytes = copy ? findScratch(*copy) : std::nullopt;
  scratchBytes = std::max(scratchBytes, bytes.value_or(0));
  return bytes.has_value();
}

/// Nothing where the module can't be lowered.
std::optional<TransferNeeds> MemoryPlanner::attempt(const SpillPlan *plan) {
  OwningOpRef<ModuleOp> copy = module.clone();
  (*copy)->setAttr(HftaDialect::kTargetAttrName, target);
  if (plan)
    noteSpillPlan(*copy, *plan);
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  bool isPlanned = succeeded(lowerQuietly(*copy, [&](OpPassManager &passes) {
    TrainPipelineOptions options;
    options.cuts = cuts;
    options.plansMemory = plan != nullptr;
    buildTrainPipeline(passes, options);
    buildPlannedPipeline(passes, {});
  }));
  if (!isPlanned)
    return std::nullopt;
  // Kernels of other plans are much the same.
  if (scratchBytes == 0 && !measureScratch(*copy))
    return std::nullopt;
  (*copy)->setAttr(
      kScratchBytesAttrName,
      Builder(module.getContext()).getI64IntegerAttr(scratchBytes));
  auto schedule = [](OpPassManager &passes) {
    passes.addPass(createHftaSchedule());
  };
  OwningOpRef<ModuleOp> scheduled = lowerCopy(*copy, schedule);
  if (!scheduled)
    return std::nullopt;
  TransferNeeds needs = measureTransfers(*scheduled, job);
  int64_t known = scratchBytes;
  if (!plan || needs.bytes > job.memoryDevice)
    return needs;
  if (!measureScratch(*copy))
    return std::nullopt;
  needs.bytes += (scratchBytes - known) * job.memoryThreads;
  return needs;
}

/// What the planner may choose among. Nothing where that can't be told; errors
/// are left to those who lower the module itself.
bool MemoryPlanner::findProblem(const TransferNeeds &streamed) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  HftaPlanPipelineOptions options;
  options.cuts.assign(cuts.begin(), cuts.end());
  if (failed(lowerQuietly(*copy, [&](OpPassManager &passes) {
        passes.addPass(createHftaPlanPipeline(std::move(options)));
        passes.addPass(createHftaDifferentiate());
      })))
    return false;
  FailureOr<SpillProblem> made = makeSpillProblem(*copy, job);
  costsAreRefused = MeasuredTasks::wereRefused(*copy);
  if (failed(made))
    return false;
  problem = std::move(*made);
  problem.request.mostCopies =
      streamed.takesTurns ? streamed.copies : job.copies;
  problem.request.leastCopies = streamed.takesTurns ? 1 : job.copies;
  if (streamed.copies > 1)
    problem.model.workspaceBytes +=
        (streamed.residentBytes - streamed.residentBytesOfOne) /
        (streamed.copies - 1);
  return true;
}

/// What a plan needs; nothing where it can't be lowered, or too many have been.
const TransferNeeds *MemoryPlanner::findNeeds(const SpillPlan &plan) {
  for (const auto &[known, needs] : lowered)
    if (known == plan)
      return &needs;
  if (lowered.size() == kMostAttempts)
    return nullptr;
  std::optional<TransferNeeds> needs = attempt(&plan);
  if (!needs)
    return nullptr;
  return &lowered.emplace_back(plan, *needs).second;
}

/// Between limits of what the model counts: with the lower one a plan fits,
/// with the upper one none does.
std::optional<SpillPlan> MemoryPlanner::findFitting(int64_t limit) {
  planning::SpillPlanner planner(problem.model, problem.request);
  std::optional<int64_t> lower, upper;
  std::optional<SpillPlan> best, last;
  int64_t device = job.memoryDevice, least = device / kParts + 1, step = 0;
  for (size_t number = 0; number < kMostPlans; ++number) {
    planning::SpillFailure failure;
    std::optional<planning::SpillChoice> choice = planner.plan(limit, failure);
    const SpillPlan &plan = choice ? choice->plan : failure.plan;
    const TransferNeeds *needs = findNeeds(plan);
    if (!needs)
      break;
    int64_t left = device - needs->bytes;
    bool isSame = last == plan;
    last = plan;
    // What keeps its plan had more room than it took, or needs more to change.
    step = std::max({std::abs(left), least, isSame ? 2 * step : 0});
    if (left >= 0) {
      lower = limit;
      best = plan;
    } else {
      upper = limit;
    }
    bool isLast = (left >= 0 && planning::keepsAll(problem.model, plan)) ||
                  (left < 0 && !choice) ||
                  (lower && upper && *upper - *lower <= least);
    if (isLast)
      break;
    limit += left >= 0 ? step : -step;
    if (lower && upper && (limit <= *lower || limit >= *upper))
      limit = *lower + (*upper - *lower) / 2;
  }
  if (best) {
    foundNeeds = *findNeeds(*best);
    return best;
  }
  return findLeanest(planner);
}

/// What the planner takes for the plan that needs least; or that in which all
/// stays, for where blocks are small what comes and goes may need more.
std::optional<SpillPlan>
MemoryPlanner::findLeanest(planning::SpillPlanner &planner) {
  std::optional<SpillPlan> leanest;
  for (int64_t limit : {int64_t(0), std::numeric_limits<int64_t>::max()}) {
    planning::SpillFailure failure;
    std::optional<planning::SpillChoice> choice = planner.plan(limit, failure);
    const SpillPlan &plan = choice ? choice->plan : failure.plan;
    std::optional<TransferNeeds> needs = attempt(&plan);
    if (!needs || (leanest && needs->leastBytes >= foundNeeds.leastBytes))
      continue;
    leanest = plan;
    foundNeeds = *needs;
  }
  fits = leanest && foundNeeds.bytes <= job.memoryDevice;
  return leanest;
}

/// Where all comes and goes copies may go through several steps at a time: then
/// a plan whose steps are single ones has to move fewer bytes than that.
bool MemoryPlanner::isBetter(const TransferNeeds &streamed) const {
  if (!fits)
    return !streamed.takesSeveralSteps &&
           foundNeeds.leastBytes < streamed.leastBytes;
  return !streamed.takesSeveralSteps ||
         (!foundNeeds.takesSeveralSteps &&
          foundNeeds.movedBytes <= streamed.movedBytes);
}

bool MemoryPlanner::plan() {
  std::optional<TransferNeeds> streamed = attempt(/*plan=*/nullptr);
  if (!streamed)
    return false;
  // Who lowers the module itself says what is wrong with costs.
  if (!findProblem(*streamed))
    return costsAreRefused;
  std::optional<SpillPlan> found =
      findFitting(job.memoryDevice - streamed->residentBytesOfOne +
                  problem.model.workspaceBytes);
  if (!found || !isBetter(*streamed))
    return false;
  noteSpillPlan(module, *found);
  return true;
}
