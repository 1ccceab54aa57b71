//===- RebuiltGradients.h - Weight gradients from layers --------*- C++ -*-===//
//
// A second-order method such as K-FAC needs the input and the output gradient
// of each layer, which hfta.layer names. To test that these are right, the
// functions compute first-order gradients from them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
#define HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Builds the weight gradient from the layer's input a and output gradient g:
/// the sum of g aᵀ over all rows, in the weight's shape. The new ops are
/// inserted by `builder`. Returns null if the layer's kind is `other`.
Value rebuildWeightGradient(OpBuilder &builder, LayerOp layer);

/// Builds the sum of the layer's output gradient over all rows, as a tensor of
/// one axis. It is the gradient of the layer's bias, which must be a column of
/// its weight.
Value sumOutputGradients(OpBuilder &builder, LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_GRADIENTS_REBUILTGRADIENTS_H
