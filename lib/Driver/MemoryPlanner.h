//===- MemoryPlanner.h - Plans a step within a budget -----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_MEMORYPLANNER_H
#define HFTA_LIB_DRIVER_MEMORYPLANNER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Transforms/MemoryNeeds.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Finds how much of a job's budget of memory hfta-plan-spill may use, by
/// lowering copies of the fused module for a target until their transfers tell
/// what the program needs.
class MemoryPlanner {
public:
  MemoryPlanner(ModuleOp module, const Job &job, TargetAttr target,
                std::vector<std::string> cuts)
      : module(module), job(job), target(target), cuts(std::move(cuts)) {}

  /// Notes on the module what the planner has to leave, and returns true; false
  /// where it needn't run: all that can comes and goes then. Errors are left to
  /// those who lower the module itself.
  bool plan();

private:
  /// A copy that was lowered, and what it needs.
  struct Attempt {
    TransferNeeds needs;
    MemoryPlanAttr plan;
    /// Whether no plan is known that needs less.
    bool isLeanest;
  };
  std::optional<Attempt> attempt(bool plansMemory);
  bool measureScratch(ModuleOp planned);
  bool findReserve(const TransferNeeds &streamed);

  ModuleOp module;
  const Job &job;
  TargetAttr target;
  std::vector<std::string> cuts;
  int64_t scratchBytes = 0; ///< of a thread
  /// Measured costs are of other blocks.
  bool costsAreRefused = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_MEMORYPLANNER_H
