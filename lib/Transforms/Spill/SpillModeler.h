//===- SpillModeler.h - The planner's model of a training step --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SPILL_SPILLMODELER_H
#define HFTA_LIB_TRANSFORMS_SPILL_SPILLMODELER_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Common/SpillModel.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {

/// The planner's model of a step, and the parts of the module that it
/// describes.
struct StepModel {
  planning::SpillModel model;
  /// The values of the module, by their numbers in the model.
  std::vector<Value> values;
  /// The parameters of each block, except for those that several blocks read:
  /// these stay in memory.
  std::vector<SmallVector<VariableOp, 4>> parameters;
};

/// Models a step of the undivided function `training` and the job's variables.
/// Seconds are estimated from documented rates, and memory follows from types.
FailureOr<StepModel> modelStep(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILL_SPILLMODELER_H
