//===- StepEstimate.h - What a planned step will take -----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_STEPESTIMATE_H
#define HFTA_LIB_DRIVER_STEPESTIMATE_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "Hfta/Transforms/StepCosts.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::hfta {

/// Of a job with a budget of memory.
struct StepEstimate {
  OwningOpRef<ModuleOp> scheduled; ///< with its transfers
  StepCosts costs;                 ///< of all tasks
  bool isMeasured;                 ///< what tasks and the store take
  /// Of each stage by itself, as its schedule has it.
  std::vector<planning::SpillRun> steps;
};

/// Schedules a copy of a planned module and simulates it. By what was measured,
/// where the module notes that, or else by documented rates. What doesn't fit
/// into the budget is diagnosed.
FailureOr<StepEstimate> estimateStep(ModuleOp planned, const Job &job);

/// What tasks of a planned module take: what was measured, where the module
/// notes that, and else documented rates.
FailureOr<StepCosts> estimateTasks(ModuleOp planned, const Job &job);

/// What a step takes on one machine: where stages share its threads, what they
/// compute one after the other.
double getStepSeconds(ArrayRef<planning::SpillRun> steps);

/// Notes on a scheduled module what a step of it takes.
LogicalResult noteStepSeconds(ModuleOp scheduled, const Job &job,
                              const StepCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_STEPESTIMATE_H
