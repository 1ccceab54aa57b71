//===- Planner.h - Plans a pipeline -----------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_PLANNER_H
#define HFTA_LIB_DRIVER_PLAN_PLANNER_H

#include "Hfta/Dialect/Hfta/Job/JobCluster.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/Pipelines/PlanSimulation.h"
#include "Hfta/Planning/Pipelines/Search.h"
#include "Hfta/Support/ExitCode.h"

namespace mlir::hfta {

/// A planning problem. All that it refers to must outlive the planner.
struct PlanningProblem {
  const Job &job;
  const PipelineRequest &pipeline;
  const planning::LayerModel &model;
  planning::Cluster cluster;
  /// The last layer of each part of the model between the job's cuts, except
  /// the last part. Empty if the cuts are given as names of layers.
  std::vector<int64_t> lastLayers;
  /// The name of the model's origin in messages, such as "the profile".
  llvm::StringRef what;
  /// Whether stages recompute forwards during backward.
  bool recomputes = false;
};

/// A plan, with the simulated step of its order if it has one. If nothing fits
/// into memory, `shortage` says how much memory a plan needs.
struct SimulatedPlan {
  planning::PipelinePlan plan;
  std::optional<planning::ChosenOrder> step;
  planning::PlanFailure shortage;
};

/// Makes the best plan, or the one with the given stages, with the best of the
/// orders that the job allows. Errors go to `diagnostics` if they have a
/// location, otherwise to `errors`. Returns `unsupported`, without a message,
/// if nothing fits into the cluster's memory.
ExitCode makePlan(const PlanningProblem &problem, JobDiagnostics &diagnostics,
                  llvm::raw_ostream &errors, SimulatedPlan &result);

/// Returns the stage of a plan that needs the most memory, and how much.
planning::PlanFailure findLargestStage(const planning::PipelinePlan &plan);

/// Writes the error that no plan fits into `memory` bytes per device.
void tellShortage(const PlanningProblem &problem, int64_t memory,
                  const planning::PlanFailure &shortage,
                  llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_PLANNER_H
