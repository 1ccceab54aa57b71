//===- StepEstimate.h - The estimated time of a planned step ----*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_STEPESTIMATE_H
#define HFTA_LIB_DRIVER_PLAN_STEPESTIMATE_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Hfta/Transforms/Tasks/StepCosts.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::hfta {

/// The estimated step of a job.
struct StepEstimate {
  OwningOpRef<ModuleOp> scheduled; ///< the module with its transfers
  StepCosts costs;                 ///< costs of all tasks
  bool isMeasured; ///< whether times of tasks and the store are measured
  /// The simulated step of each stage without the others.
  std::vector<planning::SpillRun> steps;
};

/// Schedules a clone of a planned module and simulates it, with measured times
/// if the module has them, else with times from documented rates. Reports an
/// error if something doesn't fit into the memory budget.
FailureOr<StepEstimate> estimateStep(ModuleOp planned, const Job &job);

/// Returns the times of a planned module's tasks: measured ones if the module
/// has them, else times from documented rates.
FailureOr<StepCosts> estimateTasks(ModuleOp planned, const Job &job);

/// Returns the seconds of a step on one machine: if stages share its threads,
/// the sum of their computing times.
double getStepSeconds(ArrayRef<planning::SpillRun> steps);

/// Notes the estimated seconds of a step on a scheduled module.
LogicalResult noteStepSeconds(ModuleOp scheduled, const Job &job,
                              const StepCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_STEPESTIMATE_H
