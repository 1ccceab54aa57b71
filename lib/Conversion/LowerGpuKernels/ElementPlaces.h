//===- ElementPlaces.h - Which elements belong together ---------*- C++ -*-===//
//
// Where an element is, as expressions: the indices of a tensor's element from
// which, or to which, that of another tensor is moved or computed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace mlir::hfta {

using Indices = SmallVector<AffineExpr>;

/// The numbers of an op's loops at which a map gives these indices; nothing
/// where that isn't one place.
std::optional<Indices> findLoops(AffineMap map, ArrayRef<AffineExpr> indices);

/// What a map gives for these numbers of loops.
Indices applyTo(AffineMap map, ArrayRef<AffineExpr> loops);

/// The index of an element in the source of a reshape or transposition, from
/// that in its result. Axes that stay as they are keep their index.
Indices getSourceIndices(tensor::ExpandShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(tensor::CollapseShapeOp op,
                         ArrayRef<AffineExpr> indices);
Indices getSourceIndices(linalg::TransposeOp op, ArrayRef<AffineExpr> indices);

/// The other way round.
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

/// The element that is moved to a place of an op's result, by a transposition,
/// a reshape, a slice, padding or an insertion. Where it is none of what is
/// padded or inserted its indices lie outside of that. Nothing where the op
/// does something else, or isn't known to move by how much.
std::optional<ElementPlace> findMoved(Operation *op,
                                      ArrayRef<AffineExpr> indices);

/// The operand whose elements an op only widens, or takes as they are; NULL
/// where there is none.
OpOperand *findWidened(linalg::GenericOp op, OpResult result);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPLACES_H
