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
  /// What a plan came to when it was lowered.
  struct Attempt {
    TransferNeeds needs;
    /// Of a step, by its simulated schedule; nothing where it doesn't fit.
    std::optional<double> seconds;
    bool isMeasured = false; ///< what tasks and the store take
  };
  std::optional<Attempt> attempt(const planning::SpillPlan *plan);
  bool simulate(ModuleOp planned, Attempt &made) const;
  bool measureScratch(ModuleOp planned);
  bool findProblem(const TransferNeeds &streamed);
  const Attempt *lower(const planning::SpillPlan &plan, size_t most);
  void lowerBelow(planning::SpillPlanner &planner, int64_t limit);
  std::optional<planning::SpillPlan> getFastest();
  std::optional<planning::SpillPlan> findFitting(int64_t limit);
  std::optional<planning::SpillPlan>
  findLeanest(planning::SpillPlanner &planner);
  bool isBetter(const Attempt &streamed) const;

  ModuleOp module;
  const Job &job;
  TargetAttr target;
  std::vector<std::string> cuts;
  SpillProblem problem;
  /// Plans that have been lowered.
  std::deque<std::pair<planning::SpillPlan, Attempt>> lowered;
  /// Of the plan that was found. If none fits that is the one that needs least.
  Attempt found;
  bool fits = true;
  int64_t scratchBytes = 0; ///< of a thread
  /// Measured costs are of other blocks.
  bool costsAreRefused = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_MEMORYPLANNER_H
