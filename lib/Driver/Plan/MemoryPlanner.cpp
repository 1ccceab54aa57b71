//===- MemoryPlanner.cpp - Plans a step in a memory budget ----------------===//
//
// The planner in lib/Planning knows a step's tasks and the values that these
// pass to each other. But batches, workspaces, kernels' scratch memory and gaps
// in the arena are known only after lowering. So a clone is lowered first in
// which all blocks are streamed (fetched and dropped): memory that is in use
// all the time even then isn't available to the planner. Then plans are
// lowered, and each shows how much more or less memory the next one may use.
// The plan that uses the most memory isn't always the fastest, since resident
// blocks leave less room for early fetches. So some plans that use less are
// lowered too, and the one whose simulated schedule takes the least time is
// chosen.
//===----------------------------------------------------------------------===//

#include "Plan/MemoryPlanner.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"
#include "Plan/LowerCopy.h"
#include "Plan/StepEstimate.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::SpillPlan;

/// The most plans that are lowered, and the most times that the planner is
/// asked for a plan; it may return the same plan several times.
static constexpr size_t kMostAttempts = 8, kMostPlans = 24;

/// The denominators of the fractions of the budget by which further plans use
/// less memory.
static constexpr int64_t kPartsLess[] = {16, 8, 4};

/// Estimated times that differ by less than this factor count as equal.
static constexpr double kAsFast = 1.005;

/// Plans whose memory differs by less than the budget divided by this number
/// count as equal.
static constexpr int64_t kParts = 256;

/// Measures the scratch memory of a module's kernels by lowering them in a
/// clone. Returns false if that fails.
bool MemoryPlanner::measureScratch(ModuleOp planned) {
  OwningOpRef<ModuleOp> copy = lowerCopy(planned, [&](OpPassManager &passes) {
    Target::read(planned)->addScratchPasses(passes);
  });
  std::optional<int64_t> bytes = copy ? findScratch(*copy) : std::nullopt;
  scratchBytes = std::max(scratchBytes, bytes.value_or(0));
  return bytes.has_value();
}

/// Lowers a plan, or if it is null, the module with all blocks streamed.
/// Returns nothing if the module can't be lowered.
std::optional<MemoryPlanner::Attempt>
MemoryPlanner::attempt(const SpillPlan *plan) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (plan)
    noteSpillPlan(*copy, *plan);
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  bool isPlanned = succeeded(lowerQuietly(*copy, [&](OpPassManager &passes) {
    TrainPipelineOptions options;
    options.cuts = cuts;
    options.plansMemory = plan != nullptr;
    buildTrainPipeline(passes, options);
    buildPlannedPipeline(passes, *Target::read(*copy));
  }));
  if (!isPlanned)
    return std::nullopt;
  // Other plans have much the same kernels. So assume the scratch memory of
  // earlier plans, and measure that of this plan only if it fits.
  if (scratchBytes == 0 && !measureScratch(*copy))
    return std::nullopt;
  (*copy)->setAttr(
      HftaDialect::kScratchBytesAttrName,
      Builder(module.getContext()).getI64IntegerAttr(scratchBytes));
  auto schedule = [](OpPassManager &passes) {
    passes.addPass(createHftaSchedule());
  };
  OwningOpRef<ModuleOp> scheduled = lowerCopy(*copy, schedule);
  if (!scheduled)
    return std::nullopt;
  Attempt made;
  made.needs = measureTransfers(*scheduled, job);
  int64_t known = scratchBytes;
  if (made.needs.bytes > job.memoryDevice)
    return made;
  if (plan && !measureScratch(*copy))
    return std::nullopt;
  made.needs.bytes += (scratchBytes - known) * job.memoryThreads;
  if (made.needs.bytes <= job.memoryDevice && !simulate(*copy, made))
    return std::nullopt;
  return made;
}

bool MemoryPlanner::simulate(ModuleOp planned, Attempt &made) const {
  planned->setAttr(
      HftaDialect::kScratchBytesAttrName,
      Builder(planned.getContext()).getI64IntegerAttr(scratchBytes));
  FailureOr<StepEstimate> estimate = estimateStep(planned, job);
  if (failed(estimate))
    return false;
  made.seconds = estimate->steps.front().seconds;
  made.isMeasured = estimate->isMeasured;
  return true;
}

/// Describes the planner's problem. Returns false if that fails. Doesn't report
/// errors, as lowering the module itself reports them.
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

/// Returns the results of a plan, which is lowered unless it has been. Returns
/// null if it can't be lowered or `most` plans have been lowered already.
const MemoryPlanner::Attempt *MemoryPlanner::lower(const SpillPlan &plan,
                                                   size_t most) {
  for (const auto &[known, made] : lowered)
    if (known == plan)
      return &made;
  if (lowered.size() >= most)
    return nullptr;
  std::optional<Attempt> made = attempt(&plan);
  if (!made)
    return nullptr;
  return &lowered.emplace_back(plan, *made).second;
}

/// Lowers plans that use less memory than the plan for `limit`, which fits.
void MemoryPlanner::lowerBelow(planning::SpillPlanner &planner, int64_t limit) {
  size_t most = lowered.size() + std::size(kPartsLess);
  for (int64_t parts : kPartsLess) {
    planning::SpillFailure failure;
    std::optional<planning::SpillChoice> choice =
        planner.plan(limit - job.memoryDevice / parts, failure);
    if (!choice || !lower(choice->plan, most))
      return;
  }
}

/// Returns the fastest of the lowered plans. Of those that count as equally
/// fast, returns the one that moves the fewest bytes.
std::optional<SpillPlan> MemoryPlanner::getFastest() {
  double least = std::numeric_limits<double>::infinity();
  for (const auto &[plan, made] : lowered)
    least = std::min(least, made.seconds.value_or(least));
  std::optional<SpillPlan> fastest;
  for (const auto &[plan, made] : lowered) {
    if (!made.seconds || *made.seconds > kAsFast * least)
      continue;
    auto getRank = [](const Attempt &attempt) {
      return std::make_pair(attempt.needs.movedBytes, *attempt.seconds);
    };
    if (fastest && getRank(made) >= getRank(found))
      continue;
    fastest = plan;
    found = made;
  }
  return fastest;
}

/// Searches for the largest memory for the planner with which the lowered plan
/// fits, by bisection between a limit with which a plan fits and one with which
/// none does. Returns the fastest plan that was lowered, or if none fits, one
/// that needs the least memory.
std::optional<SpillPlan> MemoryPlanner::findFitting(int64_t limit) {
  planning::SpillPlanner planner(problem.model, problem.request);
  std::optional<int64_t> fitting, upper;
  std::optional<SpillPlan> last;
  bool keepsAll = false;
  int64_t device = job.memoryDevice, least = device / kParts + 1, step = 0;
  for (size_t number = 0; number < kMostPlans; ++number) {
    planning::SpillFailure failure;
    std::optional<planning::SpillChoice> choice = planner.plan(limit, failure);
    const SpillPlan &plan = choice ? choice->plan : failure.plan;
    const Attempt *made = lower(plan, kMostAttempts);
    if (!made)
      break;
    int64_t left = device - made->needs.bytes;
    bool isSame = last == plan;
    last = plan;
    // If the limit changed but the plan didn't, change the limit by more: the
    // plan used less than it was allowed, or needs more room to change.
    step = std::max({std::abs(left), least, isSame ? 2 * step : 0});
    if (left >= 0) {
      fitting = limit;
      keepsAll = planning::keepsAll(problem.model, plan);
    } else {
      upper = limit;
    }
    bool isLast = keepsAll || (left < 0 && !choice) ||
                  (fitting && upper && *upper - *fitting <= least);
    if (isLast)
      break;
    limit += left >= 0 ? step : -step;
    if (fitting && upper && (limit <= *fitting || limit >= *upper))
      limit = *fitting + (*upper - *fitting) / 2;
  }
  if (fitting && !keepsAll)
    lowerBelow(planner, *fitting);
  std::optional<SpillPlan> fastest = getFastest();
  return fastest ? fastest : findLeanest(planner);
}

/// Returns the plan that needs less memory of two: the one that needs the least
/// according to the planner, and the one that keeps everything in memory. With
/// small blocks, streaming may need more memory than keeping.
std::optional<SpillPlan>
MemoryPlanner::findLeanest(planning::SpillPlanner &planner) {
  std::optional<SpillPlan> leanest;
  for (int64_t limit : {int64_t(0), std::numeric_limits<int64_t>::max()}) {
    planning::SpillFailure failure;
    std::optional<planning::SpillChoice> choice = planner.plan(limit, failure);
    const SpillPlan &plan = choice ? choice->plan : failure.plan;
    std::optional<Attempt> made = attempt(&plan);
    if (!made || (leanest && made->needs.leastBytes >= found.needs.leastBytes))
      continue;
    leanest = plan;
    found = *made;
  }
  fits = leanest && found.needs.bytes <= job.memoryDevice;
  return leanest;
}

/// Returns whether the plan that was found is better than streaming everything.
/// If streaming lets copies go through several steps at a time, a plan with
/// single steps must move fewer bytes. Measured times aren't compared with
/// estimated ones.
bool MemoryPlanner::isBetter(const Attempt &streamed) const {
  bool takesTurns = streamed.needs.takesSeveralSteps;
  if (!fits)
    return !takesTurns && found.needs.leastBytes < streamed.needs.leastBytes;
  if (takesTurns)
    return !found.needs.takesSeveralSteps &&
           found.needs.movedBytes <= streamed.needs.movedBytes;
  if (!streamed.seconds || found.isMeasured != streamed.isMeasured)
    return true;
  bool movesLess = found.needs.movedBytes < streamed.needs.movedBytes;
  return *found.seconds <= *streamed.seconds * (movesLess ? kAsFast : 1);
}

bool MemoryPlanner::plan() {
  std::optional<Attempt> streamed = attempt(/*plan=*/nullptr);
  if (!streamed)
    return false;
  // If measured costs can't be used, return true: then lowering the module
  // itself reports why.
  if (!findProblem(streamed->needs))
    return costsAreRefused;
  std::optional<SpillPlan> plan =
      findFitting(job.memoryDevice - streamed->needs.residentBytesOfOne +
                  problem.model.workspaceBytes);
  if (!plan || !isBetter(*streamed))
    return false;
  noteSpillPlan(module, *plan);
  return true;
}
