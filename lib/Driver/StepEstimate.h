//===- StepEstimate.h - The estimated time of a planned step ----*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_STEPESTIMATE_H
#define HFTA_LIB_DRIVER_STEPESTIMATE_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "Hfta/Transforms/StepCosts.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::hfta {

/// The estimated step of a job.
struct StepEstimate {
  OwningOpRef<ModuleOp> scheduled; ///< the module with its transfers
  StepCosts costs;                 ///< those of all tasks
  bool isMeasured; ///< the times of tasks and the store were measured
  /// The step of each stage alone, as its schedule has it.
  std::vector<planning::SpillRun> steps;
};

/// Schedules a copy of a planned module and simulates it, with measured times
/// where the module has them, else with documented rates. Whatever doesn't fit
/// into the budget is diagnosed.
FailureOr<StepEstimate> estimateStep(ModuleOp planned, const Job &job);

/// Returns the times of a planned module's tasks: measured ones where the
/// module has them, else those of documented rates.
FailureOr<StepCosts> estimateTasks(ModuleOp planned, const Job &job);

/// Returns the time of a step on one machine: where stages share its threads,
/// the sum of their computations.
double getStepSeconds(ArrayRef<planning::SpillRun> steps);

/// Notes the estimated time of a step on a scheduled module.
LogicalResult noteStepSeconds(ModuleOp scheduled, const Job &job,
                              const StepCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_STEPESTIMATE_H
