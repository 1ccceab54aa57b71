//===- Averages.h - Running averages of weights -----------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_AVERAGES_H
#define HFTA_DIALECT_HFTA_JOB_AVERAGES_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"

namespace mlir::hfta {

/// The record of a kind of average: all that Hfta knows about it.
struct AverageInfo {
  llvm::StringLiteral name;
  /// The parameters. A job's hyper-parameters of these names have the prefix
  /// kAveragePrefix.
  llvm::ArrayRef<ParameterInfo> parameters;
  llvm::StringLiteral text; ///< for docs/language.md
  /// Builds the weight of the new parameters in the average, as an f64 scalar
  /// of at most 1. `count` is the number of parameters that were averaged
  /// before, at least 1. `number` returns the value of a parameter.
  Expression (*buildWeight)(
      const Expression &count,
      llvm::function_ref<Expression(llvm::StringRef)> number);
};

/// The prefix of hyper-parameters that are numbers of the average, and the name
/// of the state that holds it.
inline constexpr llvm::StringLiteral kAveragePrefix = "average_";
inline constexpr llvm::StringLiteral kAverageState = "average";
/// The name of the state of an optimizer that averages weights itself: what is
/// added to the parameter to get the average.
inline constexpr llvm::StringLiteral kAverageOffsetState = "average_offset";
/// The names of both states. No parameter of a copy has both.
inline constexpr llvm::StringLiteral kAverageStates[] = {kAverageState,
                                                         kAverageOffsetState};

llvm::ArrayRef<AverageInfo> getAverages();
/// Returns the kind of average of this name, or null.
const AverageInfo *findAverage(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_AVERAGES_H
