//===- ElementPlaces.h - Correspondences of tensors' elements ---*- C++ -*-===//
//
// Describes by affine expressions where an element of a tensor comes from or
// goes to: the indices of the corresponding element of another tensor.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_ELEMENTPLACES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_ELEMENTPLACES_H

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace mlir::hfta {

using Indices = SmallVector<AffineExpr>;

/// Returns the loop indices at which `map` has the results `indices`. Returns
/// nothing unless the map is a permutation.
std::optional<Indices> findLoops(AffineMap map, ArrayRef<AffineExpr> indices);

/// Returns the results of `map` at these loop indices.
Indices applyTo(AffineMap map, ArrayRef<AffineExpr> loops);

/// Returns the indices, in the source of a reshape or transposition, of the
/// element at `indices` of the result. Axes that the op doesn't change keep
/// their index.
Indices getSourceIndices(tensor::ExpandShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(tensor::CollapseShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(linalg::TransposeOp op, ArrayRef<AffineExpr> indices);

/// Returns the indices, in the result of a reshape or transposition, of the
/// element at `indices` of the source.
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

/// Returns the element that a transposition, reshape, slice, padding or
/// insertion moves to `indices` of its result. For a place of padding, or
/// outside of the inserted tensor, the returned indices are out of bounds.
/// Returns nothing if the op does something else, has strides other than 1, or
/// moves by an amount that isn't constant.
std::optional<ElementPlace> findMoved(Operation *op,
                                      ArrayRef<AffineExpr> indices);

/// Returns the operand whose elements an op yields as this result, unchanged or
/// only extended to a wider float type; NULL if there is none.
OpOperand *findWidened(linalg::GenericOp op, OpResult result);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_ELEMENTPLACES_H
