//===- ElementPlaces.h - Correspondences of tensors' elements ---*- C++ -*-===//
//
// Finds an element's place as expressions: the indices of the element of one
// tensor from which, or to which, that of another tensor is moved or computed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace mlir::hfta {

using Indices = SmallVector<AffineExpr>;

/// Returns the indices of an op's loops at which a map has these results;
/// nothing if there isn't exactly one such place.
std::optional<Indices> findLoops(AffineMap map, ArrayRef<AffineExpr> indices);

/// Returns a map's results at these indices of the loops.
Indices applyTo(AffineMap map, ArrayRef<AffineExpr> loops);

/// Returns the indices of an element in the source of a reshape or
/// transposition from those in its result. Axes that aren't changed keep their
/// index.
Indices getSourceIndices(tensor::ExpandShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(tensor::CollapseShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(linalg::TransposeOp op, ArrayRef<AffineExpr> indices);

/// Returns the indices in the result from those in the source.
Indices getResultIndices(tensor::ExpandShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getResultIndices(tensor::CollapseShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getResultIndices(linalg::TransposeOp op, ArrayRef<AffineExpr> indices);

/// An element of a tensor.
struct ElementPlace {
  Value tensor;
  Indices indices;
};

/// Returns the element that a transposition, a reshape, a slice, padding or an
/// insertion moves to a place of its result. If the place is outside of what is
/// padded or inserted, so are the indices. Nothing if the op does something
/// else, or moves by an amount that isn't constant.
std::optional<ElementPlace> findMoved(Operation *op,
                                      ArrayRef<AffineExpr> indices);

/// Returns the operand whose elements an op only widens, or yields unchanged;
/// NULL if there is none.
OpOperand *findWidened(linalg::GenericOp op, OpResult result);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H
