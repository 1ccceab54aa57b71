//===- HftaFolds.cpp - Folds of ops ---------------------------------------===//
//
// A fold never changes the bits of a float, and never the type of a value: a
// shared value stays shared, an arrayed one stays arrayed.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

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

/// If `value` is a broadcast that repeats a value along `axes` alone, returns
/// this value; otherwise an empty expression.
static Expression getRepeated(OpBuilder &builder, Value value,
                              ArrayRef<int64_t> axes) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> shape = broadcast.getType().getShape();
  SmallVector<int64_t> others = getOtherAxes(shape.size(), axes);
  bool keepsOthers = llvm::all_of(
      llvm::zip(others, broadcast.getInput().getType().getShape()),
      [&](auto pair) { return shape[std::get<0>(pair)] == std::get<1>(pair); });
  if (broadcast.getDimensions() != ArrayRef(others) || !keepsOthers)
    return {};
  return {builder, value.getLoc(), broadcast.getInput()};
}

/// The most elements that an index of 32 bits can count.
static constexpr int64_t kMostCounted = std::numeric_limits<int32_t>::max();

/// Adds to `distances` by how much `factor` times `value` grows from one index
/// to the next along each axis. Returns false unless `value` is a sum of a few
/// positions.
static bool addDistances(Value value, int64_t factor, unsigned mostDepth,
                         MutableArrayRef<int64_t> distances) {
  if (auto position = value.getDefiningOp<IotaOp>()) {
    distances[position.getAxis()] += factor;
    return true;
  }
  if (mostDepth == 0)
    return false;
  if (auto sum = value.getDefiningOp<AddOp>())
    return addDistances(sum.getLhs(), factor, mostDepth - 1, distances) &&
           addDistances(sum.getRhs(), factor, mostDepth - 1, distances);
  auto product = value.getDefiningOp<MulOp>();
  SplatElementsAttr splat;
  if (!product || !matchPattern(product.getRhs(), m_Constant(&splat)) ||
      !isa<IntegerType>(splat.getElementType()))
    return false;
  int64_t steps = splat.getSplatValue<APInt>().getSExtValue();
  return steps > 0 && steps <= kMostCounted / factor &&
         addDistances(product.getLhs(), factor * steps, mostDepth - 1,
                      distances);
}

/// Whether `value` counts the elements along `axes` in row-major order.
static bool countsAlong(Value value, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  SmallVector<int64_t> distances(shape.size(), 0);
  constexpr unsigned kMostDepth = 6;
  if (countAlong(shape, axes) > kMostCounted ||
      !addDistances(value, 1, kMostDepth, distances))
    return false;
  int64_t next = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    bool isCounted = llvm::is_contained(axes, static_cast<int64_t>(axis));
    if (shape[axis] > 1 && distances[axis] != (isCounted ? next : 0))
      return false;
    next *= isCounted ? shape[axis] : 1;
  }
  return true;
}

namespace {
/// Replaces a sum over elements, all of which are zero but at one index, by
/// that element. Such elements are the gradient of an element that an index has
/// chosen, for example the label's among all classes, or the maximum of a
/// plane. The zeros turn -0 into 0. A sum over more axes is left: the fold
/// would change its order, but only where the elements' computation is in the
/// same task.
struct FoldSumOfChosen : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto select = op.getInput().getDefiningOp<SelectOp>();
    auto compare =
        select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
    if (op.getKind() != ReduceKind::sum || !compare ||
        compare.getPredicate() != ComparePredicate::equal)
      return failure();
    ArrayRef<int64_t> shape = op.getInput().getType().getShape();
    ArrayRef<int64_t> axes = op.getAxes();
    Expression index = getRepeated(rewriter, compare.getRhs(), axes);
    Expression value = getRepeated(rewriter, select.getOnTrue(), axes);
    if (axes.empty() || index.isNull() || value.isNull() ||
        !isa<FloatType>(value.getElementType()) ||
        !index.getElementType().isSignlessInteger() ||
        index.getElementType().getIntOrFloatBitWidth() < 32 ||
        !countsAlong(compare.getLhs(), axes) ||
        !(matchPattern(select.getOnFalse(), m_Zero()) ||
          matchPattern(select.getOnFalse(), m_AnyZeroFloat())))
      return failure();
    double count = static_cast<double>(countAlong(shape, axes));
    Expression isInside =
        index.compare(ComparePredicate::greater_equal, 0.0)
            .apply<AndOp>(index.compare(ComparePredicate::less, count));
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
// Pooling
//===----------------------------------------------------------------------===//

namespace {
/// Applies a relu behind the maximum of each window instead of before, to fewer
/// elements. The backward then needs none of the elements before the pooling.
/// A window whose maximum isn't positive may choose another element than
/// before, but its gradient is zero. If windows overlap, little would be saved,
/// and the maxima are one more tensor to store. The maximum of a window of
/// padding alone is lower than any relu, so padded poolings are left. The
/// pooling takes over the relu's location and the relu the pooling's, so that
/// names of layers, such as those of a pipeline's cuts, stay in order.
struct ReluAfterMaxPool : OpRewritePattern<MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaxPoolOp op,
                                PatternRewriter &rewriter) const override {
    auto relu = op.getInput().getDefiningOp<ReluOp>();
    ArrayRef<int64_t> windows =
        op.getResult().getType().getShape().drop_front(2);
    bool overlaps = false;
    for (auto [count, size, stride] :
         llvm::zip(windows, op.getKernel(), op.getStrides()))
      overlaps |= count > 1 && size > stride;
    bool isPadded =
        llvm::any_of(op.getPadding(), [](int64_t size) { return size != 0; });
    if (!relu || !relu->hasOneUse() || !op.getIndices().use_empty() ||
        overlaps || isPadded)
      return failure();
    auto pool = MaxPoolOp::create(rewriter, relu.getLoc(), relu.getInput(),
                                  op.getKernel(), op.getStrides(),
                                  op.getDilations(), op.getPadding());
    auto result = ReluOp::create(rewriter, op.getLoc(), pool.getResult());
    rewriter.replaceOp(op, {result, pool.getIndices()});
    return success();
  }
};
} // namespace

void MaxPoolOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ReluAfterMaxPool>(context);
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
