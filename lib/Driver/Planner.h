//===- Planner.h - Plans what a job or flags ask for ------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLANNER_H
#define HFTA_LIB_DRIVER_PLANNER_H

#include "Hfta/Dialect/Hfta/IR/JobCluster.h"
#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/PlanSimulation.h"
#include "Hfta/Planning/Search.h"

namespace mlir::hfta {

/// A planning problem. Everything it refers to outlives the planner.
struct PlanningProblem {
  const Job &job;
  const PipelineRequest &pipeline;
  const planning::LayerModel &model;
  planning::Cluster cluster;
  /// The last layer of each part of the model that the job's cuts make, except
  /// the last part. Empty: the cuts name layers.
  std::vector<int64_t> lastLayers;
  /// How messages call the model: "the profile".
  llvm::StringRef what;
  /// Whether stages recompute forwards.
  bool recomputes = false;
};

/// A plan, with the simulated step of its order if there is one; or the memory
/// with which there would be a plan.
struct SimulatedPlan {
  planning::PipelinePlan plan;
  std::optional<planning::ChosenOrder> step;
  planning::PlanFailure shortage;
};

/// Makes the best plan, or that of the given stages, with the best of the
/// orders that the job allows. Errors go to `diagnostics` if they have a
/// location, otherwise to `errors`. Returns `unsupported`, without a message,
/// if nothing fits into the cluster's memory.
ExitCode makePlan(const PlanningProblem &problem, JobDiagnostics &diagnostics,
                  llvm::raw_ostream &errors, SimulatedPlan &result);

/// Returns the needs of the plan's stage that needs most memory.
planning::PlanFailure findLargestStage(const planning::PipelinePlan &plan);

/// Reports that nothing fits into `memory` bytes per device.
void tellShortage(const PlanningProblem &problem, int64_t memory,
                  const planning::PlanFailure &shortage,
                  llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLANNER_H
