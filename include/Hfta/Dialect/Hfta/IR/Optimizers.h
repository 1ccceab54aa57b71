//===- Optimizers.h - One record for each optimizer -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_OPTIMIZERS_H
#define HFTA_DIALECT_HFTA_IR_OPTIMIZERS_H

#include "Hfta/Dialect/Hfta/IR/Settings.h"

namespace mlir::hfta {

class OptimizerUpdate;

/// A tensor of each parameter's shape that the optimizer keeps from step to
/// step.
struct OptimizerState {
  llvm::StringLiteral name; ///< in checkpoints: NAME/parameter
  double initial = 0;
  /// The flag or optional parameter that it requires; empty: it is always
  /// there.
  llvm::StringLiteral onlyWith = "";
};

struct OptimizerInfo {
  llvm::StringLiteral name;
  /// The parameters in the order of positional arguments; the first is the
  /// learning rate, "lr".
  llvm::ArrayRef<ParameterInfo> parameters;
  llvm::ArrayRef<OptimizerState> states;
  /// Whether the update reads the variable "step", the number of steps done.
  bool usesStep;
  /// Builds one update of a parameter.
  void (*update)(OptimizerUpdate &update);
  llvm::StringLiteral text; ///< for docs/language.md

  // Returns the states that exist, where `given` are the flags that hold and
  // the optional parameters that have values.
  llvm::SmallVector<const OptimizerState *>
  getStates(ArrayRef<StringRef> given) const;
  /// Returns the names of the scalars that the update reads.
  llvm::SmallVector<StringRef> getScalars(ArrayRef<StringRef> given) const;
};

llvm::ArrayRef<OptimizerInfo> getOptimizers();
/// Finds an optimizer by its name; null if there is none.
const OptimizerInfo *findOptimizer(llvm::StringRef name);

/// Returns the flags that hold and the optional parameters that have values.
llvm::SmallVector<StringRef> getGivenOptions(const Job &job);

/// Describes the optimizer by its name and the options that add a state: jobs
/// with equal descriptions have checkpoints with the same tensors.
std::string describeStates(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_OPTIMIZERS_H
