//===- ElementPlaces.cpp - Correspondences of tensors' elements -----------===//

#include "Read/ElementPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

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

/// Returns, for each group of axes, the row-major index of the element in the
/// group.
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

/// Returns the indices along all axes, given each group's row-major index.
/// Without groups, all axes have one element and index 0.
static Indices split(ArrayRef<AffineExpr> joined, ArrayRef<int64_t> shape,
                     ArrayRef<ReassociationIndices> groups,
                     MLIRContext *context) {
  Indices indices(shape.size(), getAffineConstantExpr(0, context));
  for (auto [number, group] : llvm::zip(joined, groups)) {
    AffineExpr left = number;
    for (int64_t axis : llvm::reverse(group)) {
      // A tensor without elements has axes of size 0; their indices are never
      // used.
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

/// Returns the element at the indices plus `sign` times the offsets; nothing if
/// an offset isn't constant.
static std::optional<ElementPlace> shift(Value tensor, Indices indices,
                                         ArrayRef<OpFoldResult> by, int sign) {
  for (auto [index, distance] : llvm::zip_equal(indices, by)) {
    std::optional<int64_t> number = getConstantIntValue(distance);
    if (!number)
      return std::nullopt;
    index = index + sign * *number;
  }
  return ElementPlace{tensor, indices};
}

/// Returns the source's element that a slice moves to these indices. Axes that
/// the slice drops have one element.
static std::optional<ElementPlace> findSliced(tensor::ExtractSliceOp op,
                                              ArrayRef<AffineExpr> indices) {
  if (!op.hasUnitStride())
    return std::nullopt;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Indices all;
  const auto *next = indices.begin();
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis)
    all.push_back(dropped[axis] ? getAffineConstantExpr(0, op.getContext())
                                : *next++);
  return shift(op.getSource(), all, op.getMixedOffsets(), 1);
}

std::optional<ElementPlace> hfta::findMoved(Operation *op,
                                            ArrayRef<AffineExpr> indices) {
  using Found = std::optional<ElementPlace>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case([&](linalg::TransposeOp op) {
        return ElementPlace{op.getInput(), getSourceIndices(op, indices)};
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto op) {
        return ElementPlace{op.getSrc(), getSourceIndices(op, indices)};
      })
      .Case([&](tensor::ExtractSliceOp op) { return findSliced(op, indices); })
      .Case([&](tensor::PadOp op) {
        return shift(op.getSource(), Indices(indices), op.getMixedLowPad(), -1);
      })
      .Case([&](tensor::InsertSliceOp op) -> Found {
        bool isOfRank =
            op.getSourceType().getRank() == op.getDestType().getRank();
        if (!isOfRank || !op.hasUnitStride())
          return std::nullopt;
        return shift(op.getSource(), Indices(indices), op.getMixedOffsets(),
                     -1);
      })
      .Default([](Operation *) { return Found(); });
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
