//===- AssignResidency.cpp - Choose which variables stay in memory --------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAASSIGNRESIDENCY
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns where a variable is while other blocks are computed.
/// - Parameters, the optimizer's state, and a preconditioner's factors and
///   inverses are spilled with `spill = disk`, unless the plan keeps those of
///   the block in memory.
/// - Values that forward leaves for backward, and values at cuts, are
///   transient, or spilled if their op is marked so.
/// - Gradients are transient if the update directly follows the backward. If it
///   waits for the gradients of all blocks, they are spilled, unless the plan
///   keeps them.
/// - A preconditioner's moments are transient if each copy has its own.
/// - All else is resident: variables of no block, those that other stages read,
///   and the small ones of other roles.
static Residency getResidency(VariableOp variable, const Job &job,
                              MemoryPlanAttr plan) {
  auto block = static_cast<int64_t>(variable.getBlock());
  bool spills = job.spillsToDisk();
  bool updatesAtLast = job.awaitsNorm() || !job.preconditioner.empty();
  BlockMemory memory = plan ? plan.getBlock(block) : BlockMemory::streamed;
  if (block < 0 || variable.getReaders())
    return Residency::resident;
  switch (variable.getRole()) {
  case Role::parameter:
    return spills && memory < BlockMemory::parameters ? Residency::spilled
                                                      : Residency::resident;
  case Role::optimizer_state:
  case Role::curvature:
    return spills && memory < BlockMemory::resident ? Residency::spilled
                                                    : Residency::resident;
  case Role::gradient:
    return spills && updatesAtLast && (!plan || plan.spillsGradients(block))
               ? Residency::spilled
               : Residency::transient;
  case Role::moment: // shared ones are added to outside of turns
    return isArrayed(variable.getTensorType()) ? Residency::transient
                                               : Residency::resident;
  case Role::saved:
  case Role::cut:
    return spills && variable.getResidency() == Residency::spilled
               ? Residency::spilled
               : Residency::transient;
  case Role::constant:
  case Role::statistics:
  case Role::workspace:
  case Role::scratch:
  case Role::input:
  case Role::output:
  case Role::scalar:
  case Role::result:
  case Role::exchange:
  case Role::received:
    return Residency::resident;
  }
  llvm_unreachable("all roles are above");
}

/// Reports settings that can't be combined with a memory budget.
static LogicalResult checkBudget(ModuleOp module, const Job &job) {
  auto refuse = [&](StringRef what) {
    return module.emitError("a budget of memory can't be planned with ")
           << what;
  };
  if (job.spill == "host")
    return module.emitError("'spill = host' needs a device with memory of its "
                            "own: for a CPU use 'spill = disk'");
  if (job.getStageCount() > 1 && !job.goesByBlocks())
    return refuse("an order of several stages, chunks or 'in_flight': all "
                  "micro-batches go through a stage block by block");
  if (job.getStageCount() > 1 && !job.preconditioner.empty())
    return refuse("a preconditioner of several stages");
  if (job.getGroups() > 1 && !job.preconditioner.empty())
    return refuse("a preconditioner of several groups of micro-batches");
  return success();
}

namespace {
struct AssignResidencyPass
    : hfta::impl::HftaAssignResidencyBase<AssignResidencyPass> {
  using HftaAssignResidencyBase::HftaAssignResidencyBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (!job->hasBudget())
      return markAllAnalysesPreserved();
    if (failed(checkBudget(module, *job)))
      return signalPassFailure();
    MeasuredTasks::remove(module); // no later pass plans with them
    MemoryPlanAttr plan = MemoryPlanAttr::get(module);
    for (auto variable : module.getOps<VariableOp>())
      variable.setResidency(getResidency(variable, *job, plan));
  }
};
} // namespace
