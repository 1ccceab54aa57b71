//===- SumOrder.cpp - The order of an op's sums ---------------------------===//

#include "Hfta/Conversion/SumOrder.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::getAddend(Operation *op) {
  if (auto fma = dyn_cast_or_null<math::FmaOp>(op))
    return fma.getC();
  if (auto pairs = dyn_cast_or_null<MultiplyPairsOp>(op))
    return pairs.getSum();
  return Value();
}

bool hfta::multiplies(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return static_cast<bool>(getAddend(&inner));
  });
}

/// Returns the growth of `index` as a function of `axes` alone, from the point
/// at which all axes are 0.
static AffineExpr restrict(AffineExpr index, unsigned loops,
                           ArrayRef<unsigned> axes) {
  MLIRContext *context = index.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> places(loops, zero), origin(axes.size(), zero);
  for (auto [place, axis] : llvm::enumerate(axes))
    places[axis] = getAffineDimExpr(place, context);
  AffineExpr moved = index.replaceDims(places);
  return simplifyAffineExpr(moved - moved.replaceDims(origin), axes.size(), 0);
}

static SmallVector<unsigned> getReductions(linalg::GenericOp op) {
  SmallVector<unsigned> axes;
  op.getReductionDims(axes);
  return axes;
}

static SumOrderAttr
getOrder(linalg::GenericOp op, ArrayRef<unsigned> axes, int64_t lanes,
         int64_t vectors,
         function_ref<SmallVector<AffineExpr>(OpOperand &, AffineMap)> locate) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes;
  for (unsigned axis : axes)
    sizes.push_back(ranges[axis]);
  if (sizes.empty() || llvm::is_contained(sizes, 0))
    return SumOrderAttr();
  MLIRContext *context = op.getContext();
  llvm::SetVector<AffineMap> reads;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    SmallVector<AffineExpr> place;
    for (AffineExpr index : locate(*input, op.getMatchingIndexingMap(input)))
      place.push_back(restrict(index, op.getNumLoops(), axes));
    AffineMap read = AffineMap::get(axes.size(), 0, place, context);
    if (!read.isConstant())
      reads.insert(read);
  }
  return SumOrderAttr::get(context, sizes, reads.getArrayRef(), lanes, vectors);
}

SumOrderAttr hfta::getLoopOrder(linalg::GenericOp op) {
  return getOrder(op, getReductions(op), /*lanes=*/1, /*vectors=*/1,
                  [](OpOperand &, AffineMap map) {
                    return SmallVector<AffineExpr>(map.getResults());
                  });
}

SumOrderAttr hfta::getAddressOrder(linalg::GenericOp op,
                                   ArrayRef<unsigned> axes, int64_t lanes,
                                   int64_t vectors) {
  return getOrder(
      op, axes, lanes, vectors, [](OpOperand &input, AffineMap map) {
        SmallVector<AffineExpr> place;
        auto type = dyn_cast<MemRefType>(input.get().getType());
        if (!type || type.getRank() == 0)
          return place;
        AffineExpr address = getAffineConstantExpr(0, map.getContext());
        for (auto [index, stride] :
             llvm::zip(map.getResults(), type.getStridesAndOffset().first))
          address = address + index * stride;
        place.push_back(address);
        return place;
      });
}

void hfta::stateSumOrder(linalg::GenericOp op) {
  if (SumOrderAttr order = getLoopOrder(op))
    op->setAttr(SumOrderAttr::kAttrName, order);
}

void hfta::keepSumOrder(linalg::GenericOp op, SumOrderAttr stated) {
  SumOrderAttr order = getLoopOrder(op);
  if (stated && order && order.getAxes() == stated.getAxes())
    op->setAttr(SumOrderAttr::kAttrName, order);
}
