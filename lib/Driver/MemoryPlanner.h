//===- MemoryPlanner.h - Plans a step within a budget -----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_MEMORYPLANNER_H
#define HFTA_LIB_DRIVER_MEMORYPLANNER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Transforms/MemoryNeeds.h"
#include "Hfta/Transforms/SpillProblem.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Finds the plan of a job's budget of memory that hfta-plan-spill is to carry
/// out, by lowering copies of the fused module for a target until their
/// transfers tell what the program needs.
class MemoryPlanner {
public:
  MemoryPlanner(ModuleOp module, const Job &job, TargetAttr target,
                std::vector<std::string> cuts)
      : module(module), job(job), target(target), cuts(std::move(cuts)) {}

  /// Notes the plan on the module, and returns true; false where
  /// hfta-plan-spill needn't run: all that can comes and goes then. Errors are
  /// left to those who lower the module itself.
  bool plan();

private:
  std::optional<TransferNeeds> attempt(const planning::SpillPlan *plan);
  bool measureScratch(ModuleOp planned);
  bool findProblem(const TransferNeeds &streamed);
  const TransferNeeds *findNeeds(const planning::SpillPlan &plan);
  std::optional<planning::SpillPlan> findFitting(int64_t limit);
  std::optional<planning::SpillPlan>
  findLeanest(planning::SpillPlanner &planner);
  bool isBetter(const TransferNeeds &streamed) const;

  ModuleOp module;
  const Job &job;
  TargetAttr target;
  std::vector<std::string> cuts;
  SpillProblem problem;
  /// Plans that have been lowered, with what they need.
  std::deque<std::pair<planning::SpillPlan, TransferNeeds>> lowered;
  /// What the plan that was found needs. If none fits that is the one that
  /// needs least.
  TransferNeeds foundNeeds;
  bool fits = true;
  int64_t scratchBytes = 0; ///< of a thread
  /// Measured costs are of other blocks.
  bool costsAreRefused = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_MEMORYPLANNER_H
