//===- MemoryPlanner.h - Plans a step in a memory budget --------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_MEMORYPLANNER_H
#define HFTA_LIB_DRIVER_PLAN_MEMORYPLANNER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Transforms/Spill/MemoryNeeds.h"
#include "Hfta/Transforms/Spill/SpillProblem.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Finds the plan for a job's memory budget that the pass hfta-plan-spill
/// applies. Lowers clones of the fused module for its target, until their
/// schedules of transfers show how much memory the program needs.
class MemoryPlanner {
public:
  MemoryPlanner(ModuleOp module, const Job &job, std::vector<std::string> cuts)
      : module(module), job(job), cuts(std::move(cuts)) {}

  /// Notes the plan on the module and returns true. Returns false if
  /// hfta-plan-spill isn't needed: then everything that can be spilled is.
  /// Doesn't report errors, as lowering the module itself reports them.
  bool plan();

private:
  /// The results of lowering a plan.
  struct Attempt {
    TransferNeeds needs;
    /// The simulated time of a step; nothing if the plan doesn't fit into
    /// memory.
    std::optional<double> seconds;
    /// Whether times of tasks and the store are measured.
    bool isMeasured = false;
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
  std::vector<std::string> cuts;
  SpillProblem problem;
  /// All plans that have been lowered, with their results.
  std::deque<std::pair<planning::SpillPlan, Attempt>> lowered;
  /// The results of the plan that was found, or if none fits, of the plan that
  /// needs the least memory.
  Attempt found;
  bool fits = true;
  int64_t scratchBytes = 0; ///< for one thread
  /// Whether measured costs can't be used because they are for other blocks.
  bool costsAreRefused = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_MEMORYPLANNER_H
