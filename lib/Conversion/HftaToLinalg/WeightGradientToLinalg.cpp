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

/// The innermost loop runs over input or output channels, contiguous in a
/// packed operand. Each element is a sum over batch and positions in row-major
/// order.
static Value sumWithChannelsInnermost(OpBuilder &builder, Location loc,
                                      const WeightGradient &op,
                                      bool outputsInnermost) {
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  if (outputsInnermost)
    channels.addInput(nest, /*reduction=*/false);
  else
    channels.addOutput(nest);
  Axis batch = nest.addReduction(getShape(op.input).front());
  Axes positions = nest.addReduction(op.getPositions());
  Axes taps = nest.addParallel(collect(op.window, &WindowAxis::kernel));
  if (outputsInnermost)
    channels.addOutput(nest);
  else
    channels.addInput(nest, /*reduction=*/false);

  auto read = [&](Value operand, Axis channel, ArrayRef<Axis> space,
                  bool innermost) {
    Axes from = join({batch, channels.group, channel, space});
    Axes to = innermost ? join({batch, channels.group, space, channel}) : from;
    nest.read(pack(builder, loc, operand, from, to), to);
  };
  read(op.input, channels.input, getTapPositions(op.window, positions, taps),
       !outputsInnermost);
  read(op.gradient, channels.output, positions, outputsInnermost);
  Axes stored =
      outputsInnermost
          ? join({channels.group, channels.input, taps, channels.output})
          : join({channels.group, channels.output, taps, channels.input});
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

/// What the innermost loop runs over.
enum class Innermost { inputs, outputs, columns };

/// By cycles a product, where one with full vectors takes 1 / lanes.
static Innermost chooseInnermost(const WeightGradient &op) {
  // Each of about so many work items packs an operand, for all uses of its
  // elements.
  constexpr double workItems = 4;
  const ChannelSizes &channels = op.channels;
  double taps = 1;
  for (const WindowAxis &axis : op.window)
    taps *= static_cast<double>(axis.kernel);
  auto getCost = [&](int64_t vectors, int64_t others) {
    return getVectorCost(vectors, op.accumulate) +
           workItems / (static_cast<double>(others) * taps);
  };
  // Columns are vectors in both operands, so that products wait for loads.
  double best = op.window.back().stride == 1
                    ? 2 * getVectorCost(op.getPositions().back(), op.accumulate)
                    : 1;
  Innermost choice = Innermost::columns;
  if (double cost = getCost(channels.inputs, channels.outputs);
      channels.hasInputs() && cost < best) {
    best = cost;
    choice = Innermost::inputs;
  }
  if (channels.hasOutputs() &&
      getCost(channels.outputs, channels.inputs) < best)
    choice = Innermost::outputs;
  return choice;
}

static Value createSum(OpBuilder &builder, Location loc,
                       const WeightGradient &op) {
  Innermost innermost = chooseInnermost(op);
  if (innermost == Innermost::columns)
    return sumWithColumnsInnermost(builder, loc, op);
  return sumWithChannelsInnermost(builder, loc, op,
                                  innermost == Innermost::outputs);
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
    Value sum = createSum(rewriter, loc, gradient);
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
