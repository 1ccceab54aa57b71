//===- WeightGradientToLinalg.cpp - Lowering of conv_weight_gradient ------===//

#include "Convolution.h"
#include "Hfta/Target/ReferenceModel.h"
#include "ProductLowering.h"
#include "TapPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

using Costs = ReferenceModel::Windows;

namespace {

struct WeightGradient {
  Activation input;    ///< [n, g c, space…]
  Activation gradient; ///< [n, g m, positions…]
  ChannelSizes channels;
  SmallVector<TapAxis> axes;
  Type accumulate;
  int64_t parts; ///< the number of parts of the batch that are summed
                 ///< separately; 0: the result has no axis of parts

  int64_t getBatch() const { return getShape(input.elements).front(); }
};

/// The axis of the innermost loop; columns are positions along the last spatial
/// axis.
enum class Innermost { inputs, outputs, groups, columns };

/// Builds a weight gradient with the innermost loop over channels or groups,
/// which are contiguous in an operand. Each element is a sum over batch and
/// positions in row-major order, one piece after the other.
class ChannelSums {
public:
  ChannelSums(OpBuilder &builder, Location loc, const WeightGradient &op,
              Innermost innermost)
      : builder(builder), loc(loc), op(op), innermost(innermost),
        pieces(op.axes, cut()) {}

  /// Returns [g, m, c, taps…].
  Value build();

private:
  struct Loops {
    ChannelAxes channels;
    Axis batch;
    Axes positions, taps;

    /// Returns an operand's axes in the order in which they are stored.
    Axes getOrder(Axis channel, ArrayRef<Axis> space, bool channelsLast) const {
      return channelsLast ? join({batch, space, channels.group, channel})
                          : join({batch, channels.group, channel, space});
    }
  };

  SmallVector<SmallVector<AxisPiece>> cut();
  Loops addLoops(LoopNest &nest, ArrayRef<int64_t> positions,
                 ArrayRef<int64_t> taps) const;
  Axes getStored(const Loops &loops) const;
  Activation packOperand(const Activation &operand, bool isInnermost);
  /// Adds a piece's products to `sums`.
  Value buildPiece(const Piece &piece, const Activation &input,
                   const Activation &gradient, Value sums);
  Value buildPieces(const Axes &stored, const LoopNest &nest, const Axes &taps);

  OpBuilder &builder;
  Location loc;
  const WeightGradient &op;
  Innermost innermost;
  /// Whether taps are in several pieces. Then each piece adds to the sums of
  /// those before it.
  bool sharesTaps = false;
  TapPieces pieces;
};

} // namespace

using Cuts = SmallVector<SmallVector<AxisPiece>>;

/// Returns the number of products of each pair of channels, and how often one
/// of their sums is loaded and stored.
static std::pair<double, double> countProducts(const Cuts &cuts,
                                               int64_t batch) {
  auto products = static_cast<double>(batch);
  double visits = 1;
  for (const SmallVector<AxisPiece> &pieces : cuts) {
    double ofAxis = 0, taps = 0;
    for (const AxisPiece &piece : pieces) {
      ofAxis += static_cast<double>(piece.positions.size * piece.taps.size);
      taps += static_cast<double>(piece.taps.size);
    }
    products *= ofAxis;
    visits *= taps;
  }
  return {products, visits};
}

/// Cuts the axes into pieces, without any padding if that is faster. A padded
/// input is a copy, which every work item would make, so it doesn't pay where
/// each vector of the input is in few products. But without padding there are
/// more pieces, so sums are loaded and stored more often.
Cuts ChannelSums::cut() {
  Cuts byTaps, unpadded;
  for (const TapAxis &axis : op.axes) {
    byTaps.push_back(cutByTaps(axis));
    if (std::optional<SmallVector<AxisPiece>> pieces = cutOffPadding(axis))
      unpadded.push_back(std::move(*pieces));
  }
  bool readsVectors =
      innermost == Innermost::inputs || innermost == Innermost::groups;
  if (!op.input.channelsLast || !readsVectors ||
      unpadded.size() != op.axes.size())
    return byTaps;
  const ChannelSizes &channels = op.channels;
  double bytes = op.accumulate.getIntOrFloatBitWidth() / 8;
  for (int64_t size : {channels.groups, channels.inputs, channels.outputs})
    bytes *= static_cast<double>(size);
  auto [padded, once] = countProducts(byTaps, op.getBatch());
  auto [needed, visits] = countProducts(unpadded, op.getBatch());
  double elements = static_cast<double>(op.getBatch());
  for (const TapAxis &axis : op.axes)
    elements *= static_cast<double>(axis.size);
  double paddedCycles = padded + Costs::kPackingItems * Costs::kPadCycles *
                                     elements /
                                     static_cast<double>(channels.outputs);
  double unpaddedCycles = needed + visits * (bytes * once > Costs::kFarSumBytes
                                                 ? Costs::kFarSumCycles
                                                 : Costs::kNearSumCycles);
  if (paddedCycles <= unpaddedCycles)
    return byTaps;
  sharesTaps = true;
  return unpadded;
}

ChannelSums::Loops ChannelSums::addLoops(LoopNest &nest,
                                         ArrayRef<int64_t> positions,
                                         ArrayRef<int64_t> taps) const {
  Loops loops{{op.channels, {}, {}, {}}, {}, {}, {}};
  if (innermost != Innermost::groups)
    loops.channels.addGroup(nest);
  if (innermost == Innermost::outputs)
    loops.channels.addInput(nest, /*reduction=*/false);
  else
    loops.channels.addOutput(nest);
  loops.batch = nest.addReduction(op.getBatch());
  loops.positions = nest.addReduction(positions);
  loops.taps = nest.addParallel(taps);
  if (innermost == Innermost::outputs)
    loops.channels.addOutput(nest);
  else
    loops.channels.addInput(nest, /*reduction=*/false);
  if (innermost == Innermost::groups)
    loops.channels.addGroup(nest);
  return loops;
}

Axes ChannelSums::getStored(const Loops &loops) const {
  const ChannelAxes &channels = loops.channels;
  switch (innermost) {
  case Innermost::inputs:
    return join({channels.group, channels.output, loops.taps, channels.input});
  case Innermost::outputs:
    return join({channels.group, channels.input, loops.taps, channels.output});
  default:
    return join({loops.taps, channels.group});
  }
}

Value ChannelSums::buildPiece(const Piece &piece, const Activation &input,
                              const Activation &gradient, Value sums) {
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
  Axes inputOrder = loops.getOrder(channels.input, space, input.channelsLast);
  size_t inputSpace =
      llvm::find(inputOrder, space.front()) - inputOrder.begin();
  nest.read(pieces.slice(builder, loc, input.elements, piece, inputSpace),
            inputOrder);

  Axes order =
      loops.getOrder(channels.output, loops.positions, gradient.channelsLast);
  SmallVector<int64_t> offsets(order.size(), 0);
  size_t first = llvm::find(order, loops.positions.front()) - order.begin();
  llvm::copy(begins, offsets.begin() + first);
  nest.read(createSlice(builder, loc, gradient.elements, offsets,
                        nest.getSizes(order)),
            order);
  nest.update(sums, getStored(loops));
  return nest.build(multiplyAdd).front();
}

/// Packs an operand if vectors along the innermost axis wouldn't be contiguous
/// otherwise.
Activation ChannelSums::packOperand(const Activation &operand,
                                    bool isInnermost) {
  bool isRead = isInnermost || innermost == Innermost::groups;
  return splitChannels(builder, loc,
                       isRead ? operand.store(builder, loc, true) : operand,
                       op.channels.groups);
}

/// Builds the sums of all pieces, with axes in the order `stored`.
Value ChannelSums::buildPieces(const Axes &stored, const LoopNest &nest,
                               const Axes &taps) {
  SmallVector<Piece> parts = pieces.getPieces();
  SmallVector<int64_t> shape = nest.getSizes(stored);
  Value zero = createZero(builder, loc, op.accumulate);
  auto fill = [&](ArrayRef<int64_t> sizes) {
    return createFilled(builder, loc, sizes, zero);
  };
  Value result;
  if (parts.empty() || sharesTaps || !pieces.hasAllTaps())
    result = fill(shape);
  else
    result = tensor::EmptyOp::create(builder, loc, shape, op.accumulate);
  if (parts.empty())
    return result;
  Activation input = packOperand(pieces.pad(builder, loc, op.input),
                                 innermost == Innermost::inputs);
  Activation gradient =
      packOperand(op.gradient, innermost == Innermost::outputs);
  size_t firstTap = llvm::find(stored, taps.front()) - stored.begin();
  for (const Piece &piece : parts) {
    SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
    SmallVector<int64_t> sizes(shape);
    for (auto [index, axis] : llvm::enumerate(piece)) {
      offsets[firstTap + index] = axis.taps.begin;
      sizes[firstTap + index] = axis.taps.size;
    }
    Value sums = sharesTaps ? createSlice(builder, loc, result, offsets, sizes)
                            : fill(sizes);
    Value part = buildPiece(piece, input, gradient, sums);
    result = sizes == shape
                 ? part
                 : createInsert(builder, loc, part, result, offsets, strides);
  }
  return result;
}

Value ChannelSums::build() {
  LoopNest nest(builder, loc);
  Loops loops = addLoops(nest, collect(op.axes, &TapAxis::positions),
                         collect(op.axes, &TapAxis::taps));
  Axes stored = getStored(loops);
  const ChannelAxes &channels = loops.channels;
  return unpack(
      builder, loc, buildPieces(stored, nest, loops.taps), stored,
      join({channels.group, channels.output, channels.input, loops.taps}));
}

static Piece getWhole(const WeightGradient &op) {
  Piece whole;
  for (const TapAxis &axis : op.axes)
    whole.push_back({{0, axis.positions}, {0, 1}, {0, axis.taps}});
  return whole;
}

/// Returns the axes as one piece, `whole`, which has all positions and taps.
static TapPieces getWholePieces(const WeightGradient &op, const Piece &whole) {
  SmallVector<SmallVector<AxisPiece>> cuts;
  for (const AxisPiece &axis : whole)
    cuts.push_back({axis});
  return TapPieces(op.axes, std::move(cuts));
}

/// Builds a weight gradient with the innermost loop over the last spatial axis.
/// Each column of the output's gradient has its own sum over batch and the
/// other spatial axes, in row-major order; then the columns' sums are added
/// from the first to the last.
static Value sumWithColumnsInnermost(OpBuilder &builder, Location loc,
                                     const WeightGradient &op) {
  Piece whole = getWhole(op);
  TapPieces pieces = getWholePieces(op, whole);
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  channels.addOutput(nest);
  Axis batch = nest.addReduction(op.getBatch());
  SmallVector<int64_t> sizes = collect(op.axes, &TapAxis::positions);
  Axes positions = nest.addReduction(ArrayRef(sizes).drop_back());
  channels.addInput(nest, /*reduction=*/false);
  Axes taps = nest.addParallel(collect(op.axes, &TapAxis::taps));
  positions.push_back(nest.addParallel(sizes.back()));

  auto read = [&](const Activation &operand, Axis channel,
                  ArrayRef<Axis> space) {
    nest.read(splitChannels(builder, loc, operand, op.channels.groups).elements,
              join({batch, channels.group, channel, space}));
  };
  read(pieces.pad(builder, loc, op.input.store(builder, loc, false)),
       channels.input, getTapPositions(op.axes, whole, positions, taps));
  read(op.gradient.store(builder, loc, false), channels.output, positions);
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

/// Chooses the fastest loop order. Costs are cycles per product: a product in
/// full vectors takes 1 / lanes cycles, and packing an element takes one cycle.
static Innermost chooseInnermost(const WeightGradient &op) {
  const ChannelSizes &channels = op.channels;
  double taps = 1;
  for (const TapAxis &axis : op.axes)
    taps *= static_cast<double>(axis.taps);
  auto getMoves = [&](const Activation &operand, bool channelsLast,
                      int64_t others) {
    return operand.channelsLast == channelsLast
               ? 0
               : Costs::kPackingItems / (static_cast<double>(others) * taps);
  };
  auto getCost = [&](int64_t vectors) {
    return getVectorCost(vectors, op.accumulate);
  };
  // With columns innermost, both operands are loaded as vectors, so that loads
  // limit the speed: hence the factor of 2.
  const TapAxis &last = op.axes.back();
  double columns = last.stride == 1 ? 2 * getCost(last.positions) : 1;
  columns += getMoves(op.input, false, channels.outputs) +
             getMoves(op.gradient, false, channels.inputs);
  Cheapest<Innermost> best(Innermost::columns, columns);
  double inputMoves = getMoves(op.input, true, channels.outputs);
  double gradientMoves = getMoves(op.gradient, true, channels.inputs);
  if (channels.hasInputs())
    best.offer(Innermost::inputs, getCost(channels.inputs) + inputMoves);
  if (channels.hasOutputs())
    best.offer(Innermost::outputs, getCost(channels.outputs) + gradientMoves);
  if (!channels.hasInputs() && !channels.hasOutputs())
    best.offer(Innermost::groups,
               2 * getCost(channels.groups) + inputMoves + gradientMoves);
  return best.get();
}

/// Builds a weight gradient as one loop nest: [(part,) g, m, c, taps…]. Each
/// element is a sum over batch, or over a part of it, and positions in
/// row-major order.
static Value sumWhole(OpBuilder &builder, Location loc,
                      const WeightGradient &op) {
  Piece whole = getWhole(op);
  TapPieces pieces = getWholePieces(op, whole);
  LoopNest nest(builder, loc);
  ChannelAxes channels{op.channels, {}, {}, {}};
  channels.addGroup(nest);
  channels.addOutput(nest);
  int64_t parts = std::max<int64_t>(op.parts, 1);
  Axis part = op.parts > 0 ? nest.addParallel(parts) : Axis();
  Axis batch = nest.addReduction(op.getBatch() / parts);
  Axes positions = nest.addReduction(collect(op.axes, &TapAxis::positions));
  channels.addInput(nest, /*reduction=*/false);
  Axes taps = nest.addParallel(collect(op.axes, &TapAxis::taps));
  auto read = [&](const Activation &operand, Axis channel,
                  ArrayRef<Axis> space) {
    Value split =
        splitChannels(builder, loc, operand, op.channels.groups).elements;
    if (part) {
      SmallVector<int64_t> shape(getShape(split));
      shape.front() /= parts;
      shape.insert(shape.begin(), parts);
      split = createReshape(builder, loc, split, shape);
    }
    nest.read(split, operand.channelsLast
                         ? join({part, batch, space, channels.group, channel})
                         : join({part, batch, channels.group, channel, space}));
  };
  read(pieces.pad(builder, loc, op.input), channels.input,
       getTapPositions(op.axes, whole, positions, taps));
  read(op.gradient, channels.output, positions);
  nest.accumulate(
      createZero(builder, loc, op.accumulate),
      join({part, channels.group, channels.output, channels.input, taps}));
  return nest.build(multiplyAdd).front();
}

static Value createSum(OpBuilder &builder, Location loc,
                       const WeightGradient &op) {
  Innermost innermost = chooseInnermost(op);
  if (innermost == Innermost::columns)
    return sumWithColumnsInnermost(builder, loc, op);
  return ChannelSums(builder, loc, op, innermost).build();
}

/// Places the sums of the used taps in the gradient of the whole weight. Taps
/// that read nothing but padding get zeros.
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
  return padFrom(builder, loc, createReshape(builder, loc, sum, shape), leading,
                 low, high, createZero(builder, loc, getElementType(sum)));
}

namespace {
struct ConvWeightGradientLowering
    : public ProductLowering<ConvWeightGradientOp> {
  using ProductLowering::ProductLowering;

  LogicalResult lower(ConvWeightGradientOp op, OpAdaptor adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t groups = op.getGroups();
    Type elementType = op.getResult().getType().getElementType();
    WeightGradient gradient;
    gradient.input = Activation::get(adaptor.getInput());
    gradient.gradient = Activation::get(adaptor.getGradient());
    ArrayRef<int64_t> sizes = gradient.input.getSpace();
    ArrayRef<int64_t> positions = gradient.gradient.getSpace();
    TrimmedWindow trimmed(getWindow(op, op.getWeightShape().drop_front(2)),
                          sizes, positions);
    for (auto [axis, size, count] : llvm::zip(trimmed.window, sizes, positions))
      gradient.axes.emplace_back(axis, size, count);
    gradient.channels = getChannelSizes(op.getWeightShape(), groups);
    gradient.accumulate = op.getAccumulate().value_or(elementType);
    gradient.parts = static_cast<int64_t>(op.getBatchParts().value_or(0));
    bool isWhole = form == ProductForm::whole || gradient.parts > 0;
    Value sum = isWhole ? sumWhole(rewriter, loc, gradient)
                        : createSum(rewriter, loc, gradient);
    SmallVector<int64_t> shape(op.getWeightShape());
    if (gradient.parts > 0)
      shape.insert(shape.begin(), gradient.parts);
    sum = placeTaps(rewriter, loc, sum, shape, trimmed);
    rewriter.replaceOp(op, resizeElements(rewriter, loc, sum, elementType));
    return success();
  }
};
} // namespace

void hfta::populateWeightGradientPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          ProductForm form) {
  patterns.add<ConvWeightGradientLowering>(converter, patterns.getContext(),
                                           form);
}
