//===- ElementPlaces.cpp - Which elements belong together -----------------===//

#include "ElementPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<Indices> hfta::findLoops(AffineMap map,
                                       ArrayRef<AffineExpr> indices) {
  if (!map.isPermutation())
    return std::nullopt;
  Indices loops(map.getNumDims());
  for (auto [expression, index] : llvm::zip(map.getResults(), indices))
    loops[cast<AffineDimExpr>(expression).getPosition()] = index;
  return loops;
}

Indices hfta::applyTo(AffineMap map, ArrayRef<AffineExpr> loops) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expression) {
    return expression.replaceDims(loops);
  });
}

//===----------------------------------------------------------------------===//
// Moved elements
//===----------------------------------------------------------------------===//

/// Of each group of axes the number in row-major order.
static Indices join(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> shape,
                    ArrayRef<ReassociationIndices> groups,
                    MLIRContext *context) {
  Indices joined;
  for (const ReassociationIndices &group : groups) {
    AffineExpr number = getAffineConstantExpr(0, context);
    for (int64_t axis : group)
      number = number * shape[axis] + indices[axis];
    joined.push_back(number);
  }
  return joined;
}

/// The axes of each group from their number. Without groups all have one
/// element.
static Indices split(ArrayRef<AffineExpr> joined, ArrayRef<int64_t> shape,
                     ArrayRef<ReassociationIndices> groups,
                     MLIRContext *context) {
  Indices indices(shape.size(), getAffineConstantExpr(0, context));
  for (auto [number, group] : llvm::zip(joined, groups)) {
    AffineExpr left = number;
    for (int64_t axis : llvm::reverse(group)) {
      // Of no elements at all an index is never used.
      int64_t size = std::max<int64_t>(shape[axis], 1);
      indices[axis] = axis == group.front() ? left : left % size;
      left = left.floorDiv(size);
    }
  }
  return indices;
}

Indices hfta::getSourceIndices(tensor::ExpandShapeOp op,
                               ArrayRef<AffineExpr> indices) {
  return join(indices, op.getResultType().getShape(),
              op.getReassociationIndices(), op.getContext());
}

Indices hfta::getSourceIndices(tensor::CollapseShapeOp op,
                               ArrayRef<AffineExpr> indices) {
  return split(indices, op.getSrcType().getShape(),
               op.getReassociationIndices(), op.getContext());
}

Indices hfta::getResultIndices(tensor::ExpandShapeOp op,
                               ArrayRef<AffineExpr> indices) {
  return split(indices, op.getResultType().getShape(),
               op.getReassociationIndices(), op.getContext());
}

Indices hfta::getResultIndices(tensor::CollapseShapeOp op,
                               ArrayRef<AffineExpr> indices) {
  return join(indices, op.getSrcType().getShape(), op.getReassociationIndices(),
              op.getContext());
}

Indices hfta::getSourceIndices(linalg::TransposeOp op,
                               ArrayRef<AffineExpr> indices) {
  Indices from(indices.size());
  for (auto [to, axis] : llvm::enumerate(op.getPermutation()))
    from[axis] = indices[to];
  return from;
}

Indices hfta::getResultIndices(linalg::TransposeOp op,
                               ArrayRef<AffineExpr> indices) {
  Indices to;
  for (int64_t axis : op.getPermutation())
    to.push_back(indices[axis]);
  return to;
}

OpOperand *hfta::findWidened(linalg::GenericOp op, OpResult result) {
  Block *body = op.getBody();
  Value yielded = body->getTerminator()->getOperand(result.getResultNumber());
  if (auto wider = yielded.getDefiningOp<arith::ExtFOp>())
    yielded = wider.getIn();
  auto argument = dyn_cast<BlockArgument>(yielded);
  bool isInput = argument && argument.getOwner() == body &&
                 argument.getArgNumber() < op.getNumDpsInputs();
  return isInput ? &op->getOpOperand(argument.getArgNumber()) : nullptr;
}
