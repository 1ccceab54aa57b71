//===- PlanSpill.cpp - Values that are kept, spilled or recomputed --------===//

#include "Hfta/Planning/Spill/SpillPlan.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Spill/SpillProblem.h"
#include "Spill/MeasuredStep.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLANSPILL
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using planning::RecomputePolicy;
using planning::SpillPlan;

static RecomputePolicy getPolicy(const Job &job) {
  if (job.recompute == "all")
    return RecomputePolicy::all;
  return job.recompute == "auto" ? RecomputePolicy::automatic
                                 : RecomputePolicy::none;
}

static Keep getKeep(planning::Keep keep) {
  switch (keep) {
  case planning::Keep::save:
    return Keep::save;
  case planning::Keep::spill:
    return Keep::spill;
  case planning::Keep::recompute:
    return Keep::recompute;
  }
  llvm_unreachable("all ways to keep a value are listed");
}

/// Notes on each op whether its results are saved, spilled or recomputed for
/// the backward. If nothing is recomputed, results that no backward needs get
/// no note.
static void noteValues(const StepModel &step, const SpillPlan &plan,
                       bool recomputes) {
  for (auto [value, keep] : llvm::zip_equal(step.values, plan.values)) {
    if (keep == planning::Keep::recompute && !recomputes)
      continue;
    Operation *op = value.getDefiningOp();
    op->setAttr(HftaDialect::kKeepAttrName,
                KeepAttr::get(op->getContext(), getKeep(keep)));
  }
}

static SmallVector<int64_t> getMerged(const SpillPlan &plan) {
  SmallVector<int64_t> into;
  for (auto [number, group] : llvm::enumerate(plan.groups))
    into.append(group.endBlock - group.firstBlock,
                static_cast<int64_t>(number));
  return into;
}

static BlockMemory getMemory(planning::Residency residency) {
  switch (residency) {
  case planning::Residency::streamed:
    return BlockMemory::streamed;
  case planning::Residency::held:
    return BlockMemory::held;
  case planning::Residency::parameters:
    return BlockMemory::parameters;
  case planning::Residency::everything:
    return BlockMemory::resident;
  }
  llvm_unreachable("all residencies are listed");
}

/// Notes on the module the memory of the merged blocks, for the passes that
/// assign residencies and schedule transfers.
static void noteMemory(ModuleOp module, const SpillPlan &plan) {
  SmallVector<BlockMemory> blocks;
  SmallVector<int64_t> spilledGradients;
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    blocks.push_back(getMemory(group.residency));
    if (group.spillsGradients)
      spilledGradients.push_back(static_cast<int64_t>(number));
  }
  module->setAttr(HftaDialect::kMemoryPlanAttrName,
                  MemoryPlanAttr::get(module.getContext(), plan.copies, blocks,
                                      spilledGradients));
}

static planning::SpillRequest makeRequest(const Job &job) {
  planning::SpillRequest request;
  request.budget = job.memoryDevice;
  request.spills = job.spillsToDisk();
  // A cut is stored like the saved values of the backward that needs it.
  request.streamsInputs = false;
  request.recompute = getPolicy(job);
  request.mostCopies = job.memoryThreads;
  return request;
}

/// Takes the measurements noted on the module, if there are any, into the
/// model.
static FailureOr<std::optional<MeasuredTasks>>
measure(ModuleOp module, const Job &job, planning::SpillModel &model) {
  FailureOr<std::optional<MeasuredTasks>> measured =
      MeasuredTasks::read(module);
  if (failed(measured) || !*measured)
    return measured;
  auto cuts = module->getAttrOfType<ArrayAttr>(HftaDialect::kCutsAttrName);
  if (llvm::Error error = measureStep(**measured, cuts, job, model))
    return (*measured)->refuse(module, std::move(error));
  return measured;
}

FailureOr<SpillProblem> hfta::makeSpillProblem(ModuleOp module,
                                               const Job &job) {
  FailureOr<StepModel> step = modelStep(module, job);
  if (failed(step) || failed(measure(module, job, step->model)))
    return failure();
  return SpillProblem{std::move(step->model), makeRequest(job)};
}

namespace {
struct PlanSpillPass : hfta::impl::HftaPlanSpillBase<PlanSpillPass> {
  using HftaPlanSpillBase::HftaPlanSpillBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (!job->hasBudget() || !job->training)
      return markAllAnalysesPreserved();
    FailureOr<StepModel> step = modelStep(module, *job);
    if (failed(step))
      return signalPassFailure();
    FailureOr<std::optional<MeasuredTasks>> measured =
        measure(module, *job, step->model);
    if (failed(measured))
      return signalPassFailure();
    planning::SpillRequest request = makeRequest(*job);
    FailureOr<SpillPlan> plan = choosePlan(step->model, request);
    if (failed(plan))
      return signalPassFailure();
    remark(*step, *plan, request.budget);
    noteValues(*step, *plan, request.recompute != RecomputePolicy::none);
    noteMemory(module, *plan);
    if (*measured)
      getStepCosts(**measured, *job, step->model, *plan).write(module);
    mergeBlocks(module, getMerged(*plan));
  }

  /// Returns the noted plan, or else the fastest one within the budget, or else
  /// the one that comes nearest to it, because the program's true needs are
  /// known only when its memory is planned.
  FailureOr<SpillPlan> choosePlan(planning::SpillModel &model,
                                  planning::SpillRequest &request) {
    ModuleOp module = getOperation();
    FailureOr<std::optional<SpillPlan>> noted = takeSpillPlan(module, model);
    if (failed(noted))
      return failure();
    if (auto reserve = module->getAttrOfType<MemoryReserveAttr>(
            HftaDialect::kMemoryReserveAttrName)) {
      model.fixedBytes += reserve.getBytes();
      model.workspaceBytes += reserve.getCopyBytes();
      request.leastCopies = reserve.getLeastCopies();
      request.mostCopies = reserve.getMostCopies();
      module->removeAttr(HftaDialect::kMemoryReserveAttrName);
    }
    if (*noted)
      return **noted;
    planning::SpillFailure failure;
    if (std::optional<planning::SpillChoice> choice =
            planning::planSpill(model, request, failure))
      return choice->plan;
    request.budget = failure.leastBudget;
    return failure.plan;
  }

  void remark(const StepModel &step, const SpillPlan &plan, int64_t budget) {
    std::string text;
    llvm::raw_string_ostream os(text);
    planning::printSpillPlan(step.model, plan, budget, os);
    remark::analysis(
        getOperation().getLoc(),
        remark::RemarkOpts::name("Spill").category("hfta-plan-spill"))
        << text;
  }
};
} // namespace
