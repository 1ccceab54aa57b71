//===- JoinAxes.cpp - Loops over several axes as one ----------------------===//

#include "Emit/JoinAxes.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Plan/Access.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns whether an operand is accessed along `axis` and the next axis, of
/// size `inner`, as along a single axis.
static bool canJoinIn(linalg::GenericOp op, OpOperand &operand, unsigned axis,
                      int64_t inner) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  MLIRContext *context = op.getContext();
  AffineExpr first = getAffineDimExpr(axis, context);
  AffineExpr second = getAffineDimExpr(axis + 1, context);
  std::optional<unsigned> place;
  for (auto [index, expression] : llvm::enumerate(map.getResults())) {
    bool hasFirst = expression.isFunctionOfDim(axis);
    bool hasSecond = expression.isFunctionOfDim(axis + 1);
    if (!hasFirst && !hasSecond)
      continue;
    if (expression == first && !place) {
      place = index;
      continue;
    }
    if (expression != second || !place || *place + 1 != index)
      return false;
    ++*place;
  }
  if (!place)
    return true;
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  // The operand must be accessed along the second axis as well, and its rows
  // must be dense.
  if (!type || map.getResult(*place) != second ||
      type.getDimSize(*place) != inner)
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  return strides[*place - 1] == strides[*place] * inner;
}

/// Returns the axes in groups, each of which can be joined into one axis,
/// either in all operands or in those that the op's body uses.
static SmallVector<ReassociationIndices> findJoins(linalg::GenericOp op,
                                                   bool inEpilogue = true) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  llvm::SmallDenseSet<unsigned> indexed;
  op.getBody()->walk(
      [&](linalg::IndexOp index) { indexed.insert(index.getDim()); });
  SmallVector<ReassociationIndices> groups;
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    bool joins = axis > 0 && kinds[axis] == kinds[axis - 1] &&
                 !indexed.contains(axis) && !indexed.contains(axis - 1) &&
                 llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
                   return (!inEpilogue && isOfEpilogue(op, operand)) ||
                          canJoinIn(op, operand, axis - 1, sizes[axis]);
                 });
    if (joins)
      groups.back().push_back(axis);
    else
      groups.push_back({axis});
  }
  return groups;
}

namespace {

/// Joins groups of an op's axes.
class AxisJoiner {
public:
  AxisJoiner(linalg::GenericOp op, ArrayRef<ReassociationIndices> groups)
      : op(op), groups(groups) {
    for (auto [joined, group] : llvm::enumerate(groups))
      newAxis.append(group.size(), getAffineDimExpr(joined, op.getContext()));
  }

  linalg::GenericOp join(RewriterBase &rewriter);

private:
  /// Returns an operand's dimensions in groups, each of which is joined into
  /// one.
  SmallVector<ReassociationIndices> getPlaces(AffineMap map) const;
  AffineMap getMap(AffineMap map) const;

  linalg::GenericOp op;
  ArrayRef<ReassociationIndices> groups;
  /// The new axis of each old axis.
  SmallVector<AffineExpr> newAxis;
};

} // namespace

SmallVector<ReassociationIndices> AxisJoiner::getPlaces(AffineMap map) const {
  SmallVector<ReassociationIndices> places;
  std::optional<unsigned> previous;
  for (auto [place, expression] : llvm::enumerate(map.getResults())) {
    auto axis = dyn_cast<AffineDimExpr>(expression);
    bool continues = axis && previous && axis.getPosition() == *previous + 1 &&
                     newAxis[axis.getPosition()] == newAxis[*previous];
    if (continues)
      places.back().push_back(place);
    else
      places.push_back({static_cast<int64_t>(place)});
    previous = axis ? std::optional(axis.getPosition()) : std::nullopt;
  }
  return places;
}

AffineMap AxisJoiner::getMap(AffineMap map) const {
  SmallVector<AffineExpr> expressions;
  for (const ReassociationIndices &group : getPlaces(map))
    expressions.push_back(map.getResult(group.front()).replaceDims(newAxis));
  return AffineMap::get(groups.size(), 0, expressions, map.getContext());
}

linalg::GenericOp AxisJoiner::join(RewriterBase &rewriter) {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> kinds;
  for (const ReassociationIndices &group : groups)
    kinds.push_back(op.getIteratorTypesArray()[group.front()]);
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Value memory = operand.get();
    SmallVector<ReassociationIndices> places = getPlaces(map);
    if (places.size() != map.getNumResults())
      memory = memref::CollapseShapeOp::create(rewriter, op.getLoc(), memory,
                                               places);
    (op.isDpsInit(&operand) ? outputs : inputs).push_back(memory);
    maps.push_back(getMap(map));
  }
  auto joined = linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(),
                                          inputs, outputs, maps, kinds);
  rewriter.inlineRegionBefore(op.getRegion(), joined.getRegion(),
                              joined.getRegion().begin());
  joined.getBody()->walk([&](linalg::IndexOp index) {
    auto axis = cast<AffineDimExpr>(newAxis[index.getDim()]);
    index.setDim(axis.getPosition());
  });
  for (StringRef name : {kEpilogueInputsAttrName, kTermAttrName})
    if (Attribute attribute = op->getAttr(name))
      joined->setAttr(name, attribute);
  rewriter.eraseOp(op);
  return joined;
}

linalg::GenericOp hfta::joinAxes(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<ReassociationIndices> groups = findJoins(op);
  if (groups.size() == op.getNumLoops())
    return op;
  return AxisJoiner(op, groups).join(rewriter);
}

bool hfta::epilogueHindersJoins(linalg::GenericOp op) {
  return findJoins(op).size() > findJoins(op, /*inEpilogue=*/false).size();
}
