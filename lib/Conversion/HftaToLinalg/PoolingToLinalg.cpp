//===- PoolingToLinalg.cpp - Lowering of pooling --------------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// Loops over planes, positions of the window and its taps; the last spatial
/// axis is innermost.
struct PoolingAxes {
  Axes planes, positions, taps;

  PoolingAxes(LoopNest &nest, ArrayRef<int64_t> resultShape,
              const Window &window) {
    planes = nest.addParallel(resultShape.take_front(2));
    positions = nest.addParallel(resultShape.drop_front(2).drop_back());
    taps = nest.addReduction(collect(window, &WindowAxis::kernel));
    positions.push_back(nest.addParallel(resultShape.back()));
  }

  Axes getInputPosition(const Window &window) const {
    Axes position(planes);
    position.append(getTapPositions(window, positions, taps));
    return position;
  }
  Axes getResultPosition() const {
    Axes position(planes);
    position.append(positions);
    return position;
  }
};

/// Loops over planes, input elements as (q, r) of InverseWindowAxis, and the
/// windows that may cover them; the last spatial axis is innermost.
struct InversePoolingAxes {
  Axes planes, groups, phases, candidates;

  InversePoolingAxes(LoopNest &nest, ArrayRef<int64_t> inputShape,
                     const InverseWindow &inverse) {
    planes = nest.addParallel(inputShape.take_front(2));
    for (const InverseWindowAxis &axis : ArrayRef(inverse).drop_back())
      addElements(nest, axis);
    candidates = nest.addReduction(collect(inverse, &InverseWindowAxis::taps));
    addElements(nest, inverse.back());
  }

  Axes getGradientPosition(const InverseWindow &inverse) const {
    Axes position(planes);
    for (auto [axis, group, candidate] : llvm::zip(inverse, groups, candidates))
      position.push_back(group + candidate * axis.step);
    return position;
  }
  Axes getElementPosition() const {
    Axes position(planes);
    for (auto [group, phase] : llvm::zip(groups, phases)) {
      position.push_back(group);
      if (phase)
        position.push_back(phase);
    }
    return position;
  }

private:
  void addElements(LoopNest &nest, const InverseWindowAxis &axis) {
    groups.push_back(nest.addParallel(axis.count));
    phases.push_back(axis.phases > 1 ? nest.addParallel(axis.phases) : Axis());
  }
};

} // namespace

/// Adds `next` to `running` where `covers` (everywhere if null).
static Value addCovered(OpBuilder &builder, Location loc, Value covers,
                        Value next, Value running) {
  Value sum = arith::AddFOp::create(builder, loc, running, next);
  if (!covers)
    return sum;
  return arith::SelectOp::create(builder, loc, covers, sum, running);
}

static Value createAnd(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!lhs)
    return rhs;
  return arith::AndIOp::create(builder, loc, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

/// Whether `next` takes the place of the maximum `running`: it is greater, or
/// the first NaN.
static Value createBeats(OpBuilder &builder, Location loc, Value next,
                         Value running) {
  if (!isa<FloatType>(next.getType()))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, next,
                                 running);
  Value greater = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGT,
                                        next, running);
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, running, running);
  return arith::AndIOp::create(builder, loc, greater, isNumber);
}

static SmallVector<Value> maximum(OpBuilder &builder, Location loc,
                                  ValueRange arguments) {
  Value next = arguments[0], running = arguments[1];
  if (isa<FloatType>(next.getType()))
    return {arith::MaximumFOp::create(builder, loc, running, next)};
  return {arith::MaxSIOp::create(builder, loc, running, next)};
}

/// The row-major position of a tap in the input's plane, and whether it lies
/// inside (null if every tap does).
static std::pair<Value, Value> createTapIndex(OpBuilder &builder, Location loc,
                                              const Window &window,
                                              const PoolingAxes &axes,
                                              ArrayRef<int64_t> planeShape) {
  SmallVector<Value> indices;
  Value isInside;
  for (auto [axis, position, tap, size] :
       llvm::zip(window, axes.positions, axes.taps, planeShape)) {
    Value index = createLinearIndex(
        builder, loc, {{position, axis.stride}, {tap, axis.dilation}},
        -axis.low);
    if (axis.low > 0 || axis.high > 0)
      isInside = createAnd(builder, loc, isInside,
                           createIsInside(builder, loc, index, size));
    indices.push_back(index);
  }
  return {createFlatIndex(builder, loc, indices, planeShape), isInside};
}

namespace {

struct MaxPoolLowering : public OpConversionPattern<MaxPoolOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MaxPoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    ArrayRef<int64_t> planeShape = getShape(input).drop_front(2);
    Window window = getWindow(op, op.getKernel());
    Type indexType = op.getIndices().getType().getElementType();

    LoopNest nest(rewriter, loc);
    PoolingAxes axes(nest, op.getResult().getType().getShape(), window);
    Value lowest = createLowest(rewriter, loc, getElementType(input));
    nest.read(padSpace(rewriter, loc, input, window, lowest),
              axes.getInputPosition(window));
    nest.accumulate(lowest, axes.getResultPosition());
    if (op.getIndices().use_empty()) {
      SmallVector<Value> results = nest.build(maximum);
      results.push_back(Value());
      rewriter.replaceOp(op, results);
      return success();
    }
    nest.accumulate(createNumber(rewriter, loc, indexType, -1),
                    axes.getResultPosition());
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Value next = arguments[0], running = arguments[1], where = arguments[2];
      auto [flat, isInside] = createTapIndex(b, loc, window, axes, planeShape);
      Value isFirst =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, where,
                                createZero(b, loc, indexType));
      Value takes = arith::OrIOp::create(b, loc, isFirst,
                                         createBeats(b, loc, next, running));
      takes = createAnd(b, loc, isInside, takes);
      Value index = arith::IndexCastOp::create(b, loc, indexType, flat);
      return SmallVector<Value>{
          arith::SelectOp::create(b, loc, takes, next, running),
          arith::SelectOp::create(b, loc, takes, index, where)};
    };
    rewriter.replaceOp(op, nest.build(body));
    return success();
  }
};

/// An input element gets the gradients of those windows, in row-major order,
/// whose index is the element's.
struct MaxPoolGradientLowering : public OpConversionPattern<MaxPoolGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MaxPoolGradientOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value gradient = adaptor.getGradient(), indices = adaptor.getIndices();
    Type elementType = getElementType(gradient);
    Type indexType = getElementType(indices);
    ArrayRef<int64_t> planeShape = op.getInputShape().drop_front(2);
    InverseWindow inverse =
        getInverse(getWindow(op, op.getKernel()), planeShape,
                   getShape(gradient).drop_front(2));
    Value zero = createZero(rewriter, loc, elementType);
    Value nowhere = createNumber(rewriter, loc, indexType, -1);

    LoopNest nest(rewriter, loc);
    InversePoolingAxes axes(nest, op.getInputShape(), inverse);
    Axes position = axes.getGradientPosition(inverse);
    nest.read(padForInverse(rewriter, loc, gradient, inverse, zero), position);
    nest.read(padForInverse(rewriter, loc, indices, inverse, nowhere),
              position);
    nest.accumulate(zero, axes.getElementPosition());
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      SmallVector<Value> element;
      for (auto [axis, group, phase] :
           llvm::zip(inverse, axes.groups, axes.phases)) {
        SmallVector<std::pair<Axis, int64_t>> terms = {{group, axis.phases}};
        if (phase)
          terms.push_back({phase, 1});
        element.push_back(createLinearIndex(b, loc, terms, 0));
      }
      Value flat = arith::IndexCastOp::create(
          b, loc, indexType, createFlatIndex(b, loc, element, planeShape));
      Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           arguments[1], flat);
      return SmallVector<Value>{
          addCovered(b, loc, isHere, arguments[0], arguments[2])};
    };
    Value elements = nest.build(body).front();
    rewriter.replaceOp(op, assembleInput(rewriter, loc, elements, inverse,
                                         op.getInputShape()));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

/// How many taps count for each position of the window along an axis.
static SmallVector<int64_t> countTaps(const WindowAxis &axis, int64_t inputSize,
                                      int64_t windows, int64_t ceilPadding,
                                      bool includePadding) {
  int64_t begin = includePadding ? -axis.low : 0;
  int64_t end =
      includePadding ? inputSize + axis.high - ceilPadding : inputSize;
  return llvm::map_to_vector(
      llvm::seq<int64_t>(0, windows), [&](int64_t window) -> int64_t {
        return llvm::count_if(
            llvm::seq<int64_t>(0, axis.kernel), [&](int64_t tap) {
              int64_t element =
                  window * axis.stride + tap * axis.dilation - axis.low;
              return element >= begin && element < end;
            });
      });
}

/// Divides each window's value by the number of taps that count.
template <typename OpTy>
static Value divideByCounts(OpBuilder &builder, OpTy op, Value windows,
                            ArrayRef<int64_t> planeShape) {
  Location loc = op.getLoc();
  Type elementType = getElementType(windows);
  ArrayRef<int64_t> counts = getShape(windows).drop_front(2);
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(getShape(windows));
  nest.read(windows, axes);
  int64_t common = 1;
  for (auto [index, axis] : llvm::enumerate(getWindow(op, op.getKernel()))) {
    SmallVector<int64_t> taps =
        countTaps(axis, planeShape[index], counts[index],
                  op.getCeilPadding()[index], op.getIncludePadding());
    if (llvm::all_equal(taps)) {
      common *= taps.front();
      continue;
    }
    SmallVector<Attribute> numbers =
        llvm::map_to_vector(taps, [&](int64_t count) -> Attribute {
          return builder.getFloatAttr(elementType, static_cast<double>(count));
        });
    auto type = RankedTensorType::get(counts[index], elementType);
    nest.read(arith::ConstantOp::create(builder, loc,
                                        DenseElementsAttr::get(type, numbers)),
              axes[index + 2]);
  }
  nest.write(elementType, axes);
  auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    Value count =
        createNumber(b, loc, elementType, static_cast<double>(common));
    for (Value factor : arguments.drop_front().drop_back())
      count = arith::MulFOp::create(b, loc, count, factor);
    return SmallVector<Value>{
        arith::DivFOp::create(b, loc, arguments.front(), count)};
  };
  return nest.build(body).front();
}

/// Whether the candidate window has a tap on the element; null if all have.
static Value createCovers(OpBuilder &builder, Location loc,
                          const InverseWindow &inverse,
                          const InversePoolingAxes &axes) {
  Value covers;
  for (auto [axis, phase, candidate] :
       llvm::zip(inverse, axes.phases, axes.candidates)) {
    if (axis.isExact())
      continue;
    // The element's distance from the window's first tap.
    Value distance =
        createLinearIndex(builder, loc, {{phase, 1}, {candidate, -axis.phases}},
                          (axis.taps - 1) * axis.phases - axis.offset);
    covers = createAnd(builder, loc, covers,
                       createIsInside(builder, loc, distance, axis.extent));
    if (axis.dilation == 1)
      continue;
    Value rest = arith::RemUIOp::create(
        builder, loc, distance, createIndex(builder, loc, axis.dilation));
    Value isTap = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        rest, createIndex(builder, loc, 0));
    covers = createAnd(builder, loc, covers, isTap);
  }
  return covers;
}

namespace {

struct AveragePoolLowering : public OpConversionPattern<AveragePoolOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AveragePoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    Window window = getWindow(op, op.getKernel());
    Value zero = createZero(rewriter, loc, getElementType(input));
    LoopNest nest(rewriter, loc);
    PoolingAxes axes(nest, op.getResult().getType().getShape(), window);
    nest.read(padSpace(rewriter, loc, input, window, zero),
              axes.getInputPosition(window));
    nest.accumulate(zero, axes.getResultPosition());
    auto body = [](OpBuilder &b, Location loc, ValueRange arguments) {
      return SmallVector<Value>{
          addCovered(b, loc, Value(), arguments[0], arguments[1])};
    };
    Value sums = nest.build(body).front();
    rewriter.replaceOp(
        op, divideByCounts(rewriter, op, sums, getShape(input).drop_front(2)));
    return success();
  }
};

struct AveragePoolGradientLowering
    : public OpConversionPattern<AveragePoolGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AveragePoolGradientOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayRef<int64_t> planeShape = op.getInputShape().drop_front(2);
    InverseWindow inverse =
        getInverse(getWindow(op, op.getKernel()), planeShape,
                   getShape(adaptor.getGradient()).drop_front(2));
    Value shares =
        divideByCounts(rewriter, op, adaptor.getGradient(), planeShape);
    Value zero = createZero(rewriter, loc, getElementType(shares));
    LoopNest nest(rewriter, loc);
    InversePoolingAxes axes(nest, op.getInputShape(), inverse);
    nest.read(padForInverse(rewriter, loc, shares, inverse, zero),
              axes.getGradientPosition(inverse));
    nest.accumulate(zero, axes.getElementPosition());
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Value covers = createCovers(b, loc, inverse, axes);
      return SmallVector<Value>{
          addCovered(b, loc, covers, arguments[0], arguments[1])};
    };
    Value elements = nest.build(body).front();
    rewriter.replaceOp(op, assembleInput(rewriter, loc, elements, inverse,
                                         op.getInputShape()));
    return success();
  }
};

} // namespace

void hfta::populatePoolingToLinalgPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns) {
  patterns.add<MaxPoolLowering, MaxPoolGradientLowering, AveragePoolLowering,
               AveragePoolGradientLowering>(converter, patterns.getContext());
}
