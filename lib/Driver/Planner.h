//===- Planner.h - Plans what a job or flags ask for ------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLANNER_H
#define HFTA_LIB_DRIVER_PLANNER_H

#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/PlanSimulation.h"

namespace mlir::hfta {

/// What is to be planned. All of it outlives the planner.
struct PlanningProblem {
  const Job &job;
  const PipelineRequest &pipeline;
  const planning::LayerModel &model;
  planning::Cluster cluster;
  /// Whether each layer is what lies between two of the job's cuts; else these
  /// name layers.
  bool layersAreStages = false;
  /// What messages call the model: "the profile".
  llvm::StringRef what;
  /// Of each device's memory, what the cluster's leaves out because the model
  /// doesn't tell of it.
  int64_t reserved = 0;
  /// Whether stages compute forwards again.
  bool recomputes = false;
};

/// A plan, and the simulated step of its order if there is one.
struct SimulatedPlan {
  planning::PipelinePlan plan;
  std::optional<planning::ChosenOrder> step;
};

/// The cluster that a job describes.
planning::Cluster makeCluster(const Job &job);

/// The best plan, or that of the stages that are given, with the best of the
/// orders that the job allows. Errors go to `diagnostics` where they have a
/// place, otherwise to `errors`.
ExitCode makePlan(const PlanningProblem &problem, JobDiagnostics &diagnostics,
                  llvm::raw_ostream &errors, SimulatedPlan &result);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLANNER_H
