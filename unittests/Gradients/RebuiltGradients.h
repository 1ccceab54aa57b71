//===- RebuiltGradients.h - Weight gradients from layers --------*- C++ -*-===//
//
// Uses hfta.layer as a second-order method does, which computes from a layer's
// input and output gradient: here it computes the weight's gradient once more.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
#define HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Builds the sum of g aᵀ after `layer`, from its input and output gradient
/// alone, in the weight's shape; null if the layer's kind is `other`.
Value rebuildWeightGradient(OpBuilder &builder, LayerOp layer);

/// Builds the sum of g over rows, flattened, for a layer whose bias is a
/// column.
Value sumOutputGradients(OpBuilder &builder, LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
