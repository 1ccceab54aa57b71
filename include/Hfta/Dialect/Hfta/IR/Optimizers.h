//===- Optimizers.h - One record an optimizer -------------------*- C++ -*-===//

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
  /// The flag or optional parameter without which there is none; empty: always.
  llvm::StringLiteral onlyWith = "";
};

struct OptimizerInfo {
  llvm::StringLiteral name;
  /// In the order of positional arguments; the first is the rate, "lr".
  llvm::ArrayRef<ParameterInfo> parameters;
  llvm::ArrayRef<OptimizerState> states;
  /// Whether the update reads the number of steps done, "step".
  bool usesStep;
  /// Builds one step of a parameter.
  void (*update)(OptimizerUpdate &update);
  llvm::StringLiteral text; ///< for docs/language.md

  // What there is where `given` are the flags that hold and the optional
  // parameters that have values.
  llvm::SmallVector<const OptimizerState *>
  getStates(ArrayRef<StringRef> given) const;
  /// Names of the scalars that the update reads.
  llvm::SmallVector<StringRef> getScalars(ArrayRef<StringRef> given) const;
};

llvm::ArrayRef<OptimizerInfo> getOptimizers();
/// Null if there is none.
const OptimizerInfo *findOptimizer(llvm::StringRef name);

/// Flags that hold and optional parameters that have values.
llvm::SmallVector<StringRef> getGivenOptions(const Job &job);

/// The optimizer's name and the options that bring a state with them: jobs of
/// which this is equal have checkpoints with the same tensors.
std::string describeStates(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_OPTIMIZERS_H
