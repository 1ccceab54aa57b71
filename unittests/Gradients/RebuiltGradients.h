//===- RebuiltGradients.h - Weight gradients from layers --------*- C++ -*-===//
//
// What a second-order method does with hfta.layer: it computes from a layer's
// input and output gradient. Here that is the weight's gradient once more.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
#define HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Builds sum g aᵀ behind `layer`, from its input and output gradient alone, in
/// the weight's shape; null if its kind is `other`.
Value rebuildWeightGradient(OpBuilder &builder, LayerOp layer);

/// The sum of g over rows, flat; for a layer whose bias is a column.
Value sumOutputGradients(OpBuilder &builder, LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
