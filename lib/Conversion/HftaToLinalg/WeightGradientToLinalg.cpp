//===- WeightGradientToLinalg.cpp - Lowering of conv_weight_gradient ------===//

#include "Convolution.h"
#include "TapPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Operands of a weight gradient, groups split off.
struct WeightGradient {
  Value input;    ///< [n, g, c, space…]
  Value gradient; ///< [n, g, m, positions…]
  ChannelSizes channels;
  SmallVector<TapAxis> axes;
  Type accumulate;
};

/// Sums with the innermost loop over input or output channels, contiguous in a
/// packed operand. Each element is a sum over batch and positions in row-major
/// order.
class ChannelSums {
public:
  ChannelSums(OpBuilder &builder, Location loc, const WeightGradient &op,
              bool outputsInnermost)
      : builder(builder), loc(loc), op(op), outputsInnermost(outputsInnermost),
        pieces(op.axes, cut(op)) {}

  /// Returns [g, m, c, taps…].
  Value build();

private:
  struct Loops {
    ChannelAxes channels;
    Axis batch;
    Axes positions, taps;

    /// An operand's order of axes, with the channels innermost or not.
    Axes getOrder(Axis channel, ArrayRef<Axis> space, bool innermost) const {
      return innermost ? join({batch, channels.group, space, channel})
                       : join({batch, channels.group, channel, space});
    }
  };

  static SmallVector<SmallVector<AxisPiece>> cut(const WeightGradient &op);
  Loops addLoops(LoopNest &nest, ArrayRef<int64_t> positions,
                 ArrayRef<int64_t> taps) const;
  Axes getStored(const Loops &loops) const;
  Value packOperand(Value operand, const Loops &loops, Axis channel,
                    ArrayRef<Axis> space, bool innermost);
  Value buildPiece(const Piece &piece, Value input, Value gradient);

  OpBuilder &builder;
  Location loc;
  const WeightGradient &op;
  bool outputsInnermost;
  TapPieces pieces;
};

} // namespace

SmallVector<SmallVector<AxisPiece>> ChannelSums::cut(const WeightGradient &op) {
  return llvm::map_to_vector(
      op.axes, [](const TapAxis &axis) { return cutByTaps(axis); });
}

ChannelSums::Loops ChannelSums::addLoops(LoopNest &nest,
                                         ArrayRef<int64_t> positions,
                                         ArrayRef<int64_t> taps) const {
  Loops loops{{op.channels, {}, {}, {}}, {}, {}, {}};
  loops.channels.addGroup(nest);
  if (outputsInnermost)
    loops.channels.addInput(nest, /*reduction=*/false);
  else
    loops.channels.addOutput(nest);
  loops.batch = nest.addReduction(getShape(op.input).front());
  loops.positions = nest.addReduction(positions);
  loops.taps = nest.addParallel(taps);
  if (outputsInnermost)
    loops.channels.addOutput(nest);
  else
    loops.channels.addInput(nest, /*reduction=*/false);
  return loops;
}

Axes ChannelSums::getStored(const Loops &loops) const {
  const ChannelAxes &channels = loops.channels;
  return outputsInnermost ? join({channels.group, channels.input, loops.taps,
                                  channels.output})
                          : join({channels.group, channels.output, loops.taps,
                                  channels.input});
}

Value ChannelSums::buildPiece(const Piece &piece, Value input, Value gradient) {
  LoopNest nest(builder, loc);
  SmallVector<int64_t> positions, taps, begins;
  for (const AxisPiece &part : piece) {
    positions.push_back(part.positions.size);
    taps.push_back(part.taps.size);
    begins.push_back(part.positions.begin);
  }
  Loops loops = addLoops(nest, positions, taps);
  Axes space = getTapPositions(op.axes, piece, loops.positions, loops.taps);
  const ChannelAxes &channels = loops.channels;
  bool inputsInnermost = !outputsInnermost;

  Axes inputOrder = loops.getOrder(channels.input, space, inputsInnermost);
  size_t inputSpace =
      llvm::find(inputOrder, space.front()) - inputOrder.begin();
  nest.read(pieces.slice(builder, loc, input, piece, inputSpace), inputOrder);

  Axes order =
      loops.getOrder(channels.output, loops.positions, outputsInnermost);
  SmallVector<int64_t> offsets(order.size(), 0);
  size_t first = llvm::find(order, loops.positions.front()) - order.begin();
  llvm::copy(begins, offsets.begin() + first);
  nest.read(createSlice(builder, loc, gradient, offsets, nest.getSizes(order)),
            order);
  nest.accumulate(createZero(builder, loc, op.accumulate), getStored(loops));
  return nest.build(multiplyAdd).front();
}

Value ChannelSums::packOperand(Value operand, const Loops &loops, Axis channel,
                               ArrayRef<Axis> space, bool innermost) {
  return pack(builder, loc, operand,
              loops.getOrder(channel, space, /*innermost=*/false),
              loops.getOrder(channel, space, innermost));
}

Value ChannelSums::build() {
  LoopNest nest(builder, loc);
  Loops loops = addLoops(nest, collect(op.axes, &TapAxis::positions),
                         collect(op.axes, &TapAxis::taps));
  Axes stored = getStored(loops);
  Value zero = createZero(builder, loc, op.accumulate), result;
  SmallVector<Piece> parts = pieces.getPieces();
  if (parts.empty() || !pieces.hasAllTaps())
    result = createFilled(builder, loc, nest.getSizes(stored), zero);
  else if (parts.size() > 1)
    result = tensor::EmptyOp::create(builder, loc, nest.getSizes(stored),
                                     op.accumulate);
  if (!parts.empty()) {
    const ChannelAxes &channels = loops.channels;
    Value input = packOperand(pieces.pad(builder, loc, op.input), loops,
                              channels.input, loops.taps, !outputsInnermost);
    Value gradient = packOperand(op.gradient, loops, channels.output,
                                 loops.positions, outputsInnermost);
    size_t firstTap = llvm::find(stored, loops.taps.front()) - stored.begin();
    for (const Piece &piece : parts) {
      Value part = buildPiece(piece, input, gradient);
      SmallVector<int64_t> offsets(stored.size(), 0), strides(stored.size(), 1);
      for (auto [index, axis] : llvm::enumerate(piece))
        offsets[firstTap + index] = axis.taps.begin;
      result = result
                   ? createInsert(builder, loc, part, result, offsets, strides)
                   : part;
    }
  }
  const ChannelAxes &channels = loops.channels;
  return unpack(
      builder, loc, result, stored,
      join({channels.group, channels.output, channels.input, loops.taps}));
}

/// The innermost loop runs over the last spatial axis: each column of the
/// gradient has its own sum over batch and the other spatial axes in row-major
/// order; the columns' sums are added from first to last.
static Value sumWithColumnsInnermost(OpBuilder &builder, Location loc,
                                     const WeightGradient &op) {
  Piece whole;
  SmallVector<SmallVector<AxisPiece>> cuts;
  for (const TapAxis &axis : op.axes) {
    whole.push_back({{0, axis.positions}, {0, 1}, {0, axis.taps}});
    cuts.push_back({whole.back()});
  }
  TapPieces pieces(op.axes, std::move(cuts));
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  channels.addOutput(nest);
  Axis batch = nest.addReduction(getShape(op.input).front());
  SmallVector<int64_t> sizes = collect(op.axes, &TapAxis::positions);
  Axes positions = nest.addReduction(ArrayRef(sizes).drop_back());
  channels.addInput(nest, /*reduction=*/false);
  Axes taps = nest.addParallel(collect(op.axes, &TapAxis::taps));
  positions.push_back(nest.addParallel(sizes.back()));

  nest.read(pieces.pad(builder, loc, op.input),
            join({batch, channels.group, channels.input,
                  getTapPositions(op.axes, whole, positions, taps)}));
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
  for (const TapAxis &axis : op.axes)
    taps *= static_cast<double>(axis.taps);
  auto getCost = [&](int64_t vectors, int64_t others) {
    return getVectorCost(vectors, op.accumulate) +
           workItems / (static_cast<double>(others) * taps);
  };
  // Columns are vectors in both operands, so that products wait for loads.
  const TapAxis &last = op.axes.back();
  double best =
      last.stride == 1 ? 2 * getVectorCost(last.positions, op.accumulate) : 1;
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
  return ChannelSums(builder, loc, op, innermost == Innermost::outputs).build();
}

/// The whole weight's gradient: taps that only meet padding have none.
static Value placeTaps(OpBuilder &builder, Location loc, Value sum,
                       ArrayRef<int64_t> weightShape,
                       const TrimmedWindow &trimmed) {
  SmallVector<int64_t> shape(weightShape), low, high;
  size_t leading = shape.size() - trimmed.taps.size();
  for (auto [index, taps] : llvm::enumerate(trimmed.taps)) {
    low.push_back(taps.begin);
    high.push_back(shape[leading + index] - taps.getEnd());
    shape[leading + index] = taps.size;
  }
  return padTrailing(builder, loc, createReshape(builder, loc, sum, shape), low,
                     high, createZero(builder, loc, getElementType(sum)));
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
    ArrayRef<int64_t> sizes = getShape(adaptor.getInput()).drop_front(2);
    ArrayRef<int64_t> positions = getShape(adaptor.getGradient()).drop_front(2);
    TrimmedWindow trimmed(getWindow(op, op.getWeightShape().drop_front(2)),
                          sizes, positions);
    WeightGradient gradient;
    for (auto [axis, size, count] : llvm::zip(trimmed.window, sizes, positions))
      gradient.axes.emplace_back(axis, size, count);
    gradient.channels = getChannelSizes(op.getWeightShape(), groups);
    gradient.accumulate = op.getAccumulate().value_or(elementType);
    gradient.input =
        splitChannels(rewriter, loc, adaptor.getInput(), 1, groups);
    gradient.gradient =
        splitChannels(rewriter, loc, adaptor.getGradient(), 1, groups);
    Value sum = createSum(rewriter, loc, gradient);
    sum = placeTaps(rewriter, loc, sum, op.getWeightShape(), trimmed);
    rewriter.replaceOp(op, resizeElements(rewriter, loc, sum, elementType));
    return success();
  }
};
} // namespace

void hfta::populateWeightGradientPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ConvWeightGradientLowering>(converter, patterns.getContext());
}
