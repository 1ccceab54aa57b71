//===- Optimizers.h - One record for each optimizer -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_OPTIMIZERS_H
#define HFTA_DIALECT_HFTA_JOB_OPTIMIZERS_H

#include "Hfta/Dialect/Hfta/Job/Settings.h"

namespace mlir::hfta {

class OptimizerUpdate;

/// A state tensor of an optimizer, such as a momentum. There is one for each
/// parameter, with the parameter's shape.
struct OptimizerState {
  llvm::StringLiteral name; ///< its name in checkpoints is NAME/parameter
  double initial = 0;
  /// The flag or optional parameter without which this state doesn't exist;
  /// empty if the state always exists.
  llvm::StringLiteral onlyWith = "";
};

/// The record of an optimizer: all that Hfta knows about it.
struct OptimizerInfo {
  llvm::StringLiteral name;
  /// The parameters in the order of positional arguments; the first is the
  /// learning rate, "lr".
  llvm::ArrayRef<ParameterInfo> parameters;
  llvm::ArrayRef<OptimizerState> states;
  /// Whether the update reads the variable "step", the number of completed
  /// steps.
  bool usesStep;
  /// Builds the ops that update one parameter.
  void (*update)(OptimizerUpdate &update);
  llvm::StringLiteral text; ///< for docs/language.md

  /// Returns whether this is a flag or an optional parameter.
  bool hasOption(llvm::StringRef option) const;
  /// Returns the states that exist if the flags and optional parameters `given`
  /// are set.
  llvm::SmallVector<const OptimizerState *>
  getStates(ArrayRef<StringRef> given) const;
  /// Returns the names of the scalars that the update reads, in the order of
  /// the operands of `hfta.optimizer_update`.
  llvm::SmallVector<StringRef> getScalars(ArrayRef<StringRef> given) const;
};

llvm::ArrayRef<OptimizerInfo> getOptimizers();
/// Returns the optimizer of this name, or null.
const OptimizerInfo *findOptimizer(llvm::StringRef name);

/// Returns the names of a kind's options.
llvm::SmallVector<StringRef> getGivenOptions(const OptimizerKind &kind);

/// Returns the names of the states that a kind keeps for each parameter.
llvm::SmallVector<const OptimizerState *> getStates(const OptimizerKind &kind);

/// Returns the names of all optimizers' states, in one order that agrees with
/// the order in each record. So a copy's states are in this order whichever
/// kinds of optimizers other copies have.
llvm::SmallVector<StringRef> getStateOrder();

/// Returns a text that identifies the set of state tensors of the copies that
/// have a kind of optimizer: its name and all options that add or change a
/// state. Copies with equal texts have checkpoints with the same tensors.
std::string describeStates(const Job &job, int64_t kind);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_OPTIMIZERS_H
