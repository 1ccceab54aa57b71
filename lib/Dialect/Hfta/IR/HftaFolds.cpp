//===- HftaFolds.cpp - Folds of ops ---------------------------------------===//
//
// A fold never changes the bits of a float, and never the type of a value: a
// shared value stays shared, an arrayed one stays arrayed.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Operation *HftaDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

/// Returns `value` as a splat of type `type`, or null if it isn't a splat.
static OpFoldResult resizeSplat(Attribute value, RankedTensorType type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(value);
  return splat ? OpFoldResult(splat.resizeSplat(type)) : OpFoldResult();
}

static bool isIota(ArrayRef<int64_t> axes) {
  return llvm::equal(axes, llvm::seq<int64_t>(0, axes.size()));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getInput());
  auto elementType = dyn_cast<FloatType>(getElementType());
  if (!splat || !elementType || !isa<FloatType>(splat.getElementType()))
    return {};
  APFloat value = splat.getSplatValue<APFloat>();
  bool losesInformation;
  value.convert(elementType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInformation);
  return DenseElementsAttr::get(getType(), value);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto elements =
          dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()))
    return elements.reshape(getType());
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIota(getPermutation()))
    return getInput();
  // An op marked as repeated is recomputed by each kernel and reads its operand
  // in the order that this has in memory. So it isn't merged with the transpose
  // that makes this order.
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (inner && !(*this)->hasAttr(HftaDialect::kRepeatedAttrName)) {
    SmallVector<int64_t> permutation;
    for (int64_t axis : getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    setPermutation(permutation);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return resizeSplat(adaptor.getInput(), getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dimensions;
    for (int64_t axis : inner.getDimensions())
      dimensions.push_back(getDimensions()[axis]);
    setDimensions(dimensions);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return resizeSplat(adaptor.getInput(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // The slice takes all elements in order. For a single element, the stride
  // doesn't matter.
  if (getInput().getType() == getType() &&
      llvm::all_of(llvm::zip(getSizes(), getStrides()), [](auto pair) {
        return std::get<0>(pair) <= 1 || std::get<1>(pair) == 1;
      }))
    return getInput();
  return resizeSplat(adaptor.getInput(), getType());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getAxes().empty() ? OpFoldResult(getInput()) : OpFoldResult();
}

/// If `value` is a broadcast that repeats a value along one axis alone, returns
/// this value; otherwise an empty expression.
static Expression getRepeated(OpBuilder &builder, Value value, int64_t axis) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast ||
      broadcast.getDimensions() !=
          ArrayRef(getOtherAxes(broadcast.getType().getRank(), {axis})))
    return {};
  return {builder, value.getLoc(), broadcast.getInput()};
}

namespace {
/// Replaces the sum of a row that is zero but at one index by that element. It
/// is what a row of the gradient of an element that an index chose adds up to.
/// The zeros turn -0 into 0.
struct FoldSumOfChosen : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto select = op.getInput().getDefiningOp<SelectOp>();
    auto compare =
        select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
    if (op.getKind() != ReduceKind::sum || op.getAxes().size() != 1 ||
        !compare || compare.getPredicate() != ComparePredicate::equal)
      return failure();
    int64_t axis = op.getAxes().front();
    auto position = compare.getLhs().getDefiningOp<IotaOp>();
    Expression index = getRepeated(rewriter, compare.getRhs(), axis);
    Expression value = getRepeated(rewriter, select.getOnTrue(), axis);
    if (!position || static_cast<int64_t>(position.getAxis()) != axis ||
        index.isNull() || value.isNull() ||
        !isa<FloatType>(value.getElementType()) ||
        !index.getElementType().isSignlessInteger() ||
        index.getElementType().getIntOrFloatBitWidth() < 32 ||
        !(matchPattern(select.getOnFalse(), m_Zero()) ||
          matchPattern(select.getOnFalse(), m_AnyZeroFloat())))
      return failure();
    double size = static_cast<double>(op.getInput().getType().getDimSize(axis));
    Expression isInside =
        index.compare(ComparePredicate::greater_equal, 0.0)
            .apply<AndOp>(index.compare(ComparePredicate::less, size));
    rewriter.replaceOp(op, Value(isInside.select(value + 0.0, 0.0)));
    return success();
  }
};
} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FoldSumOfChosen>(context);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Folds a stack of all copies of one value, in order, to that value.
OpFoldResult StackOp::fold(FoldAdaptor) {
  Value whole;
  for (auto [copy, input] : llvm::enumerate(getInputs())) {
    auto unstack = input.getDefiningOp<UnstackOp>();
    if (!unstack || unstack.getCopy() != copy ||
        unstack.getInput().getType() != getType() ||
        (whole && unstack.getInput() != whole))
      return {};
    whole = unstack.getInput();
  }
  return whole;
}

OpFoldResult UnstackOp::fold(FoldAdaptor) {
  if (auto stack = getInput().getDefiningOp<StackOp>())
    return stack.getInputs()[getCopy()];
  return {};
}
