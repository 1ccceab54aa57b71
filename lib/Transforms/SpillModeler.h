//===- SpillModeler.h - A training step as the planner sees it --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SPILLMODELER_H
#define HFTA_LIB_TRANSFORMS_SPILLMODELER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillModel.h"
#include "TaskTags.h"

namespace mlir::hfta {

struct StepModel {
  planning::SpillModel model;
  /// Of each of the model's values.
  std::vector<Value> values;
  /// Parameters of each block, but for those that several blocks read, which
  /// stay in memory.
  std::vector<SmallVector<VariableOp, 4>> parameters;
};

/// Of the undivided function `training` and the job's variables. Seconds are
/// those of documented rates, and memory has what types say.
FailureOr<StepModel> modelStep(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILLMODELER_H
