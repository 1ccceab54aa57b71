//===- ReshapedIndices.h - Where reshaping leaves an element ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_RESHAPEDINDICES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_RESHAPEDINDICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::hfta {

/// The index of an element in the source of a reshape, from that in its result.
/// Axes that stay as they are keep their index.
SmallVector<AffineExpr> getSourceIndices(tensor::ExpandShapeOp op,
                                         ArrayRef<AffineExpr> indices);
SmallVector<AffineExpr> getSourceIndices(tensor::CollapseShapeOp op,
                                         ArrayRef<AffineExpr> indices);

/// The other way round.
SmallVector<AffineExpr> getResultIndices(tensor::ExpandShapeOp op,
                                         ArrayRef<AffineExpr> indices);
SmallVector<AffineExpr> getResultIndices(tensor::CollapseShapeOp op,
                                         ArrayRef<AffineExpr> indices);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_RESHAPEDINDICES_H
