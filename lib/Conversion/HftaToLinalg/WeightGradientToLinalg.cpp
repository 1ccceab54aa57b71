//===- WeightGradientToLinalg.cpp - Lowering of conv_weight_gradient ------===//

#include "Convolution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Operands of a weight gradient, groups split off.
struct WeightGradient {
  Value input;    ///< padded: [n, g, c, space…]
  Value gradient; ///< [n, g, m, positions…]
  ChannelSizes channels;
  Window window;
  Type accumulate;

  ArrayRef<int64_t> getPositions() const {
    return getShape(gradient).take_back(window.size());
  }
};

} // namespace

/// The innermost loop runs over input channels, contiguous in a packed input.
/// Each element is a sum over batch and positions in row-major order.
static Value sumWithInputsInnermost(OpBuilder &builder, Location loc,
                                    const WeightGradient &op) {
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  channels.addOutput(nest);
  Axis batch = nest.addReduction(getShape(op.input).front());
  Axes positions = nest.addReduction(op.getPositions());
  Axes taps = nest.addParallel(collect(op.window, &WindowAxis::kernel));
  channels.addInput(nest, /*reduction=*/false);

  Axes space = getTapPositions(op.window, positions, taps);
  Axes from = join({batch, channels.group, channels.input, space});
  Axes to = join({batch, channels.group, space, channels.input});
  nest.read(pack(builder, loc, op.input, from, to), to);
  nest.read(op.gradient,
            join({batch, channels.group, channels.output, positions}));
  Axes stored = join({channels.group, channels.output, taps, channels.input});
  nest.accumulate(createZero(builder, loc, op.accumulate), stored);
  Value sum = nest.build(multiplyAdd).front();
  return unpack(builder, loc, sum, stored,
                join({channels.group, channels.output, channels.input, taps}));
}

/// The innermost loop runs over the last spatial axis: each column of the
/// gradient has its own sum over batch and the other spatial axes in row-major
/// order; the columns' sums are added from first to last.
static Value sumWithColumnsInnermost(OpBuilder &builder, Location loc,
                                     const WeightGradient &op) {
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  channels.addOutput(nest);
  Axis batch = nest.addReduction(getShape(op.input).front());
  Axes positions = nest.addReduction(op.getPositions().drop_back());
  channels.addInput(nest, /*reduction=*/false);
  Axes taps = nest.addParallel(collect(op.window, &WindowAxis::kernel));
  positions.push_back(nest.addParallel(op.getPositions().back()));

  nest.read(op.input, join({batch, channels.group, channels.input,
                            getTapPositions(op.window, positions, taps)}));
  nest.read(op.gradient,
            join({batch, channels.group, channels.output, positions}));
  Axes stored = join({channels.group, channels.output, channels.input, taps,
                      positions.back()});
  Value zero = createZero(builder, loc, op.accumulate);
  nest.accumulate(zero, stored);
  Value columns = nest.build(multiplyAdd).front();

  LoopNest total(builder, loc);
  Axes kept = total.addParallel(getShape(columns).drop_back());
  Axis column = total.addReduction(getShape(columns).back());
  total.read(columns, join({kept, column}));
  total.accumulate(zero, kept);
  return total
      .build([](OpBuilder &b, Location loc, ValueRange arguments) {
        return SmallVector<Value>{
            arith::AddFOp::create(b, loc, arguments[1], arguments[0])};
      })
      .front();
}

/// Whether vectors over input channels beat vectors over columns.
static bool chooseInputsInnermost(const WeightGradient &op) {
  if (!op.channels.hasInputs())
    return false;
  // Every work item, a range of output channels, packs the input.
  constexpr double workItems = 16;
  double uses = static_cast<double>(op.channels.outputs);
  for (const WindowAxis &axis : op.window)
    uses *= static_cast<double>(axis.kernel);
  double inputs =
      getVectorCost(op.channels.inputs, op.accumulate) + workItems / uses;
  double columns = op.window.back().stride == 1
                       ? getVectorCost(op.getPositions().back(), op.accumulate)
                       : 1;
  return inputs < columns;
}

namespace {
struct ConvWeightGradientLowering
    : public OpConversionPattern<ConvWeightGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConvWeightGradientOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t groups = op.getGroups();
    Type elementType = getElementType(adaptor.getInput());
    WeightGradient gradient;
    gradient.window = getWindow(op, op.getWeightShape().drop_front(2));
    gradient.channels = getChannelSizes(op.getWeightShape(), groups);
    gradient.accumulate = op.getAccumulate().value_or(elementType);
    Value padded = padSpace(rewriter, loc, adaptor.getInput(), gradient.window,
                            createZero(rewriter, loc, elementType));
    gradient.input = splitChannels(rewriter, loc, padded, 1, groups);
    gradient.gradient =
        splitChannels(rewriter, loc, adaptor.getGradient(), 1, groups);
    Value sum = chooseInputsInnermost(gradient)
                    ? sumWithInputsInnermost(rewriter, loc, gradient)
                    : sumWithColumnsInnermost(rewriter, loc, gradient);
    sum = createReshape(rewriter, loc, sum, op.getWeightShape());
    rewriter.replaceOp(op, resizeElements(rewriter, loc, sum, elementType));
    return success();
  }
};
} // namespace

void hfta::populateWeightGradientPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ConvWeightGradientLowering>(converter, patterns.getContext());
}
