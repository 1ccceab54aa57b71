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

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_STEPESTIMATE_H
