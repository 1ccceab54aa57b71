//===- Planner.h - Plans what a job or flags ask for ------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLANNER_H
#define HFTA_LIB_DRIVER_PLANNER_H

#include "Hfta/Dialect/Hfta/IR/JobCluster.h"
#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/PlanSimulation.h"
#include "Hfta/Planning/Search.h"

namespace mlir::hfta {

/// What is to be planned. All of it outlives the planner.
struct PlanningProblem {
  const Job &job;
  const PipelineRequest &pipeline;
  const planning::LayerModel &model;
  planning::Cluster cluster;
  /// Of each part of the model that the job's cuts leave but the last, the
  /// layer that ends it. Empty: the cuts name layers.
  std::vector<int64_t> lastLayers;
  /// What messages call the model: "the profile".
  llvm::StringRef what;
  /// Whether stages compute forwards again.
  bool recomputes = false;
};

/// A plan, and the simulated step of its order if there is one; or what memory
/// there would be a plan with.
struct SimulatedPlan {
  planning::PipelinePlan plan;
  std::optional<planning::ChosenOrder> step;
  planning::PlanFailure shortage;
};

/// The best plan, or that of the stages that are given, with the best of the
/// orders that the job allows. Errors go to `diagnostics` where they have a
/// place, otherwise to `errors`. `unsupported`, which isn't told, where nothing
/// fits into the cluster's memory.
ExitCode makePlan(const PlanningProblem &problem, JobDiagnostics &diagnostics,
                  llvm::raw_ostream &errors, SimulatedPlan &result);

/// What the stage needs that needs most of a plan's.
planning::PlanFailure findLargestStage(const planning::PipelinePlan &plan);

/// Tells that nothing fits into so many bytes a device.
void tellShortage(const PlanningProblem &problem, int64_t memory,
                  const planning::PlanFailure &shortage,
                  llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLANNER_H
