//===- Optimizers.h - One record for each optimizer -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_OPTIMIZERS_H
#define HFTA_DIALECT_HFTA_JOB_OPTIMIZERS_H

#include "Hfta/Dialect/Hfta/Job/Settings.h"

namespace mlir::hfta {

class OptimizerUpdate;

/// The shape of a state.
enum class StateExtent {
  parameter, ///< that of the parameter
  number,    ///< one number, of type f64
  rows,      ///< without the last axis; none for less than two axes
  columns,   ///< without the axis before the last; none for less than two axes
  outputs,   ///< only the axes that number the outputs of the parameter's layer
  unlessMatrix, ///< that of the parameter; none for two axes or more
  // Those of a symmetric matrix over a side of the parameter as a matrix with a
  // row for each output of its layer: its packed lower triangle, all of its
  // elements, or a number for each of its rows. There is none for a side of
  // more than kMostSide, and a vector has no columns.
  rowTriangle,
  columnTriangle,
  rowSquare,
  columnSquare,
  rowSide,
  columnSide
};

/// The longest side of a matrix over which optimizers keep a symmetric matrix.
inline constexpr int64_t kMostSide = 10000;

/// Whether an optimizer takes parameters of two axes or more as matrices.
enum class MatrixUse {
  none, ///< it doesn't: axes don't matter
  also, ///< it does, and it updates vectors, too
  only  ///< it does, and it updates no others
};

/// A state of an optimizer, such as a momentum. There is one for each
/// parameter.
struct OptimizerState {
  llvm::StringLiteral name; ///< its name in checkpoints is NAME/parameter
  double initial = 0;
  /// The flag or optional parameter without which this state doesn't exist;
  /// empty if the state always exists.
  llvm::StringLiteral onlyWith = "";
  StateExtent extent = StateExtent::parameter;
  /// The least number of axes of a parameter that has the state.
  size_t leastRank = 0;

  /// Returns the state's shape for a parameter of this shape; nothing if there
  /// is no such state. `outputAxes` are the axes that number the outputs of the
  /// parameter's layer; if empty, this is the first one.
  std::optional<llvm::SmallVector<int64_t>>
  getShape(llvm::ArrayRef<int64_t> parameter,
           llvm::ArrayRef<int64_t> outputAxes) const;
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
  MatrixUse matrixUse = MatrixUse::none;
  /// Returns the floating-point operations of an update's matrix products with
  /// these options, for a parameter of this shape with these output axes; null
  /// if there are none.
  int64_t (*countProducts)(llvm::ArrayRef<StringRef> given,
                           llvm::ArrayRef<int64_t> parameter,
                           llvm::ArrayRef<int64_t> outputAxes) = nullptr;

  /// Returns whether the optimizer averages its weights itself, so that the
  /// average is what is evaluated and exported (kAverageOffsetState).
  bool keepsAverage() const;
  /// Returns whether this is a flag or an optional parameter.
  bool hasOption(llvm::StringRef option) const;
  /// Returns the states that exist if the flags and optional parameters `given`
  /// are set.
  llvm::SmallVector<const OptimizerState *>
  getStates(ArrayRef<StringRef> given) const;
  /// Returns those that a parameter of this shape has. `outputAxes` are those
  /// of OptimizerState::getShape.
  llvm::SmallVector<const OptimizerState *>
  getStates(ArrayRef<StringRef> given, ArrayRef<int64_t> parameter,
            ArrayRef<int64_t> outputAxes) const;
  /// Returns the number of elements of all states of such a parameter.
  int64_t countStateElements(ArrayRef<StringRef> given,
                             ArrayRef<int64_t> parameter,
                             ArrayRef<int64_t> outputAxes) const;
  /// Returns the names of the scalars that the update reads, in the order of
  /// the operands of `hfta.optimizer_update`.
  llvm::SmallVector<StringRef> getScalars(ArrayRef<StringRef> given) const;
};

llvm::ArrayRef<OptimizerInfo> getOptimizers();
/// Returns the optimizer of this name, or null.
const OptimizerInfo *findOptimizer(llvm::StringRef name);

/// Returns the names of a kind's options.
llvm::SmallVector<StringRef> getGivenOptions(const OptimizerKind &kind);

/// Returns the first of a job's optimizers that averages its weights itself, or
/// null.
const OptimizerInfo *findAveragingOptimizer(const Job &job);

/// Returns the last of a parameter's groups that has an optimizer of its own,
/// or null. `groups` are indices into Job::groupsOfParameters, ascending.
const ParameterGroup *findOptimizerGroup(const Job &job,
                                         llvm::ArrayRef<int64_t> groups);

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
