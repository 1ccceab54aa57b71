//===- SpillModeler.h - The planner's model of a training step --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SPILLMODELER_H
#define HFTA_LIB_TRANSFORMS_SPILLMODELER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillModel.h"
#include "TaskTags.h"

namespace mlir::hfta {

struct StepModel {
  planning::SpillModel model;
  /// The values of the program, by the model's numbers.
  std::vector<Value> values;
  /// The parameters of each block, except those that several blocks read, which
  /// stay in memory.
  std::vector<SmallVector<VariableOp, 4>> parameters;
};

/// Models a step of the undivided function `training` and the job's variables.
/// Seconds follow from documented rates, and memory from types.
FailureOr<StepModel> modelStep(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILLMODELER_H
