//===- ReverseMode.h - Reverse-mode differentiation of a block --*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_REVERSEMODE_H
#define HFTA_TRANSFORMS_REVERSEMODE_H

#include "mlir/IR/Builders.h"

namespace mlir::hfta {

/// The backward of one op, which has just been built: the ops from `first` up
/// to the builder's insertion point. Gradients are null where none flows.
struct OpBackward {
  Operation *forward;
  Block::iterator first;
  ArrayRef<Value> resultGradients;
  /// The terms that this op contributes to its operands' gradients.
  ArrayRef<Value> operandGradients;
};
using BackwardCallback = llvm::function_ref<void(const OpBackward &)>;

/// Appends at `builder`'s insertion point (the end of `block`'s ops that
/// compute `target`) the gradient of `target`, a scalar per copy, with respect
/// to `wanted`. `gradients` gets one value for each of `wanted`, of its logical
/// shape, null where `target` doesn't depend on it. The walk ends at each of
/// them: where one is computed from another (a parameter's cast from the
/// parameter), the gradient of the first isn't passed on to the second; the
/// caller adds it. Contributions to one value are added in the order of the
/// reverse walk, so the result is a function of the graph alone.
///
/// `seed` is the gradient with respect to `target`, of its type except for
/// copies; null: 1.
///
/// Fails with one error per op if any op between `wanted` and `target` has no
/// derivative; nothing is built then.
LogicalResult buildReverseMode(OpBuilder &builder, Value target,
                               ArrayRef<Value> wanted,
                               SmallVectorImpl<Value> &gradients,
                               BackwardCallback callback, Value seed = {});

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_REVERSEMODE_H
