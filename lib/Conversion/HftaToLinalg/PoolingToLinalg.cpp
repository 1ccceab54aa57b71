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

/// The loops over batch and channels of a pooling op.
struct PlaneAxes {
  Axis batch, channel;
  bool channelsLast; ///< whether operands and results are stored with channels
                     ///< last

  Axes place(Axes space) const {
    space.insert(channelsLast ? space.end() : space.begin(), channel);
    space.insert(space.begin(), batch);
    return space;
  }
};

/// The loops over batch, channels, positions of the window and its taps. The
/// innermost loop runs over the axis that is contiguous in memory.
struct PoolingAxes : PlaneAxes {
  Axes positions, taps;

  /// Adds the loops to `nest`. `positionCounts` are the numbers of window
  /// positions along the spatial axes.
  PoolingAxes(LoopNest &nest, const Activation &input,
              ArrayRef<int64_t> positionCounts, const Window &window) {
    channelsLast = input.channelsLast;
    ArrayRef<int64_t> shape = getShape(input.elements);
    int64_t channels = shape[input.getChannelAxis()];
    SmallVector<int64_t> kernel = collect(window, &WindowAxis::kernel);
    batch = nest.addParallel(shape.front());
    if (channelsLast) {
      positions = nest.addParallel(positionCounts);
      taps = nest.addReduction(kernel);
      channel = nest.addParallel(channels);
      return;
    }
    channel = nest.addParallel(channels);
    positions = nest.addParallel(positionCounts.drop_back());
    taps = nest.addReduction(kernel);
    positions.push_back(nest.addParallel(positionCounts.back()));
  }

  Axes getInputPosition(const Window &window) const {
    return place(getTapPositions(window, positions, taps));
  }
  Axes getResultPosition() const { return place(positions); }
};

/// The loops over batch, channels, elements of the input, as (q, r) of
/// InverseWindowAxis, and the windows that may cover an element. The innermost
/// loop runs over the axis that is contiguous in memory.
struct InversePoolingAxes : PlaneAxes {
  Axes groups, phases, candidates;

  InversePoolingAxes(LoopNest &nest, const Activation &gradient,
                     const InverseWindow &inverse) {
    channelsLast = gradient.channelsLast;
    ArrayRef<int64_t> shape = getShape(gradient.elements);
    int64_t channels = shape[gradient.getChannelAxis()];
    SmallVector<int64_t> taps = collect(inverse, &InverseWindowAxis::taps);
    batch = nest.addParallel(shape.front());
    if (!channelsLast)
      channel = nest.addParallel(channels);
    for (const InverseWindowAxis &axis : ArrayRef(inverse).drop_back())
      addElements(nest, axis);
    if (!channelsLast)
      candidates = nest.addReduction(taps);
    addElements(nest, inverse.back());
    if (!channelsLast)
      return;
    candidates = nest.addReduction(taps);
    channel = nest.addParallel(channels);
  }

  Axes getGradientPosition(const InverseWindow &inverse) const {
    Axes space;
    for (auto [axis, group, candidate] : llvm::zip(inverse, groups, candidates))
      space.push_back(group + candidate * axis.step);
    return place(space);
  }
  Axes getElementPosition() const {
    Axes space;
    for (auto [group, phase] : llvm::zip(groups, phases)) {
      space.push_back(group);
      if (phase)
        space.push_back(phase);
    }
    return place(space);
  }

private:
  void addElements(LoopNest &nest, const InverseWindowAxis &axis) {
    groups.push_back(nest.addParallel(axis.count));
    phases.push_back(axis.phases > 1 ? nest.addParallel(axis.phases) : Axis());
  }
};

} // namespace

/// Adds `next` to `running` where `covers` holds, or everywhere if it is null.
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

/// Replaces a gradient by `elements`, whose spatial axes are those of
/// InversePoolingAxes.
template <typename GradientOp>
static void replaceByElements(ConversionPatternRewriter &rewriter,
                              GradientOp op, Value elements,
                              const InverseWindow &inverse, bool channelsLast) {
  Activation result{elements, channelsLast};
  result.elements =
      assembleInput(rewriter, op.getLoc(), elements, result.getFirstSpace(),
                    inverse, op.getInputShape().drop_front(2));
  rewriter.replaceOp(op, result.getLogical(rewriter, op.getLoc()));
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

/// Creates the condition under which `next` replaces the maximum `running`: it
/// is greater, or it is the first NaN.
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

/// Creates the row-major index, in the input's plane, of the element that a tap
/// reads, and whether the tap lies inside of the input (null if all taps do).
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
    Activation input = Activation::get(adaptor.getInput());
    ArrayRef<int64_t> planeShape = input.getSpace();
    Window window = getWindow(op, op.getKernel());
    Type indexType = op.getIndices().getType().getElementType();

    LoopNest nest(rewriter, loc);
    PoolingAxes axes(nest, input,
                     op.getResult().getType().getShape().drop_front(2), window);
    Value lowest = createLowest(rewriter, loc, getElementType(input.elements));
    nest.read(padSpace(rewriter, loc, input, window, lowest).elements,
              axes.getInputPosition(window));
    nest.accumulate(lowest, axes.getResultPosition());
    auto getLogical = [&](Value result) {
      return Activation{result, input.channelsLast}.getLogical(rewriter, loc);
    };
    if (op.getIndices().use_empty()) {
      rewriter.replaceOp(op,
                         {getLogical(nest.build(maximum).front()), Value()});
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
    rewriter.replaceOp(op, llvm::map_to_vector(nest.build(body), getLogical));
    return success();
  }
};

/// Lowers the gradient of maximum pooling. An element of the input gets the sum
/// of the gradients of the windows whose index names the element, in row-major
/// order of the windows.
struct MaxPoolGradientLowering : public OpConversionPattern<MaxPoolGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MaxPoolGradientOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool channelsLast = isStoredChannelsLast(op.getResult());
    auto getOperand = [&](Value operand) {
      return Activation::get(operand).store(rewriter, loc, channelsLast);
    };
    Activation gradient = getOperand(adaptor.getGradient());
    Activation indices = getOperand(adaptor.getIndices());
    Type elementType = getElementType(gradient.elements);
    Type indexType = getElementType(indices.elements);
    ArrayRef<int64_t> planeShape = op.getInputShape().drop_front(2);
    InverseWindow inverse = getInverse(getWindow(op, op.getKernel()),
                                       planeShape, gradient.getSpace());
    Value zero = createZero(rewriter, loc, elementType);
    Value nowhere = createNumber(rewriter, loc, indexType, -1);

    LoopNest nest(rewriter, loc);
    InversePoolingAxes axes(nest, gradient, inverse);
    Axes position = axes.getGradientPosition(inverse);
    nest.read(padForInverse(rewriter, loc, gradient, inverse, zero).elements,
              position);
    nest.read(padForInverse(rewriter, loc, indices, inverse, nowhere).elements,
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
    replaceByElements(rewriter, op, nest.build(body).front(), inverse,
                      channelsLast);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

/// Counts, for each position of a window along an axis, the taps whose elements
/// enter the average.
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

/// Divides each window's value by the number of taps that enter its average.
template <typename OpTy>
static Activation divideByCounts(OpBuilder &builder, OpTy op,
                                 const Activation &windows,
                                 ArrayRef<int64_t> planeShape) {
  Location loc = op.getLoc();
  Type elementType = getElementType(windows.elements);
  ArrayRef<int64_t> counts = windows.getSpace();
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(getShape(windows.elements));
  nest.read(windows.elements, axes);
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
              axes[windows.getFirstSpace() + index]);
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
  return {nest.build(body).front(), windows.channelsLast};
}

/// Creates the condition that a tap of the candidate window reads the element;
/// null if the condition always holds.
static Value createCovers(OpBuilder &builder, Location loc,
                          const InverseWindow &inverse,
                          const InversePoolingAxes &axes) {
  Value covers;
  for (auto [axis, phase, candidate] :
       llvm::zip(inverse, axes.phases, axes.candidates)) {
    if (axis.isExact())
      continue;
    // the element's distance from the window's first tap
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
    Activation input = Activation::get(adaptor.getInput());
    Window window = getWindow(op, op.getKernel());
    Value zero = createZero(rewriter, loc, getElementType(input.elements));
    LoopNest nest(rewriter, loc);
    PoolingAxes axes(nest, input,
                     op.getResult().getType().getShape().drop_front(2), window);
    nest.read(padSpace(rewriter, loc, input, window, zero).elements,
              axes.getInputPosition(window));
    nest.accumulate(zero, axes.getResultPosition());
    auto body = [](OpBuilder &b, Location loc, ValueRange arguments) {
      return SmallVector<Value>{
          addCovered(b, loc, Value(), arguments[0], arguments[1])};
    };
    Activation sums{nest.build(body).front(), input.channelsLast};
    rewriter.replaceOp(op, divideByCounts(rewriter, op, sums, input.getSpace())
                               .getLogical(rewriter, loc));
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
    bool channelsLast = isStoredChannelsLast(op.getResult());
    Activation gradient = Activation::get(adaptor.getGradient())
                              .store(rewriter, loc, channelsLast);
    InverseWindow inverse = getInverse(getWindow(op, op.getKernel()),
                                       planeShape, gradient.getSpace());
    Activation shares = divideByCounts(rewriter, op, gradient, planeShape);
    Value zero = createZero(rewriter, loc, getElementType(shares.elements));
    LoopNest nest(rewriter, loc);
    InversePoolingAxes axes(nest, shares, inverse);
    nest.read(padForInverse(rewriter, loc, shares, inverse, zero).elements,
              axes.getGradientPosition(inverse));
    nest.accumulate(zero, axes.getElementPosition());
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Value covers = createCovers(b, loc, inverse, axes);
      return SmallVector<Value>{
          addCovered(b, loc, covers, arguments[0], arguments[1])};
    };
    replaceByElements(rewriter, op, nest.build(body).front(), inverse,
                      channelsLast);
    return success();
  }
};

} // namespace

void hfta::populatePoolingToLinalgPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns) {
  patterns.add<MaxPoolLowering, MaxPoolGradientLowering, AveragePoolLowering,
               AveragePoolGradientLowering>(converter, patterns.getContext());
}
