//===- ReverseMode.h - Reverse-mode differentiation of a block --*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_H
#define HFTA_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_H

#include "mlir/IR/Builders.h"

namespace mlir::hfta {

/// The backward of one op that has just been built: the ops from `first` to the
/// builder's insertion point. A gradient is null if the target doesn't depend
/// on the value.
struct OpBackward {
  Operation *forward;
  Block::iterator first;
  ArrayRef<Value> resultGradients;
  /// The terms by which this op contributes to its operands' gradients.
  ArrayRef<Value> operandGradients;
};
using BackwardCallback = llvm::function_ref<void(const OpBackward &)>;

/// Builds the gradient of `target`, a scalar per copy, with respect to the
/// values `wanted`, by reverse-mode differentiation. Ops are inserted at the
/// builder's insertion point, which must be after the ops of the block that
/// compute `target`.
///
/// `gradients` is set to one value for each of `wanted`, with its logical
/// shape, or null if `target` doesn't depend on it. The walk ends at wanted
/// values. So if one of them is computed from another, such as a parameter's
/// cast from the parameter, the gradient of the first isn't passed on to the
/// second; the caller has to add it. Contributions to one value are added in
/// the order of the reverse walk, so the result depends only on the graph.
///
/// `seed` is the gradient with respect to `target` and has its type, but may be
/// shared where that is arrayed; null means 1. `callback` is called for each op
/// after its backward has been built.
///
/// If any ops between `wanted` and `target` have no derivative, reports an
/// error for each of them, builds nothing, and fails.
LogicalResult buildReverseMode(OpBuilder &builder, Value target,
                               ArrayRef<Value> wanted,
                               SmallVectorImpl<Value> &gradients,
                               BackwardCallback callback, Value seed = {});

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_H
