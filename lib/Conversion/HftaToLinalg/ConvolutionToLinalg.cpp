//===- ConvolutionToLinalg.cpp - Lowering of convolution, input gradient --===//
//
// Both are correlations of a padded tensor with a kernel, or pieces of one that
// need less padding. The innermost loop runs over output channels, with the
// kernel packed so that they are contiguous, or over the last spatial axis,
// whichever vectors fit better.
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Hfta/Conversion/HftaToLinalg.h"
#include "TapPieces.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

void ChannelAxes::addGroup(LoopNest &nest) {
  if (sizes.groups > 1)
    group = nest.addParallel(sizes.groups);
}
void ChannelAxes::addOutput(LoopNest &nest) {
  if (sizes.hasOutputs())
    output = nest.addParallel(sizes.outputs);
}
void ChannelAxes::addInput(LoopNest &nest, bool reduction) {
  if (sizes.hasInputs())
    input = reduction ? nest.addReduction(sizes.inputs)
                      : nest.addParallel(sizes.inputs);
}

Value hfta::splitChannels(OpBuilder &builder, Location loc, Value tensor,
                          size_t axis, int64_t groups) {
  ArrayRef<int64_t> shape = getShape(tensor);
  int64_t channels = shape[axis] / groups;
  if (groups == 1 || channels == 1)
    return tensor;
  SmallVector<int64_t> split(shape);
  split[axis] = groups;
  split.insert(split.begin() + axis + 1, channels);
  return createReshape(builder, loc, tensor, split);
}

Axes hfta::join(std::initializer_list<ArrayRef<Axis>> parts) {
  Axes joined;
  for (ArrayRef<Axis> part : parts)
    llvm::copy_if(part, std::back_inserter(joined),
                  [](Axis axis) { return static_cast<bool>(axis); });
  return joined;
}

//===----------------------------------------------------------------------===//
// Correlation
//===----------------------------------------------------------------------===//

namespace {

/// result[n, g m, o, r] = sum over c, k of data[n, g c, o * stride + k *
/// dilation - low] * kernel[g, m, c, k, r]. A spatial axis with one phase has
/// no r.
struct Correlation {
  Value data;
  Value kernel; ///< [g, m, c, (k, r)…] or [g, c, m, (k, r)…], g may be joined
  bool inputsFirst; ///< the kernel's order is the second one
  ChannelSizes channels;
  SmallVector<TapAxis> axes;
  Type accumulate;
};

/// The loops of a piece of a correlation.
struct CorrelationAxes {
  Axis batch;
  ChannelAxes channels;
  Axes taps, phases, positions;
  SmallVector<std::pair<Axis, int64_t>> begins; ///< in the whole's axes
  Axes stored; ///< in the order in which results are stored

  /// (first, phase) for each spatial axis.
  Axes interleave(ArrayRef<Axis> first) const {
    Axes result;
    for (auto [axis, phase] : llvm::zip(first, phases))
      result.append(join({axis, phase}));
    return result;
  }
  Axes getSpace() const { return interleave(positions); }
  Axes getKernel(bool inputsFirst) const {
    Axes ordered = inputsFirst ? join({channels.input, channels.output})
                               : join({channels.output, channels.input});
    return join({channels.group, ordered, interleave(taps)});
  }
  SmallVector<int64_t> getOffsets(ArrayRef<Axis> order) const {
    return llvm::map_to_vector(order, [&](Axis axis) {
      for (auto [known, begin] : begins)
        if (known == axis)
          return begin;
      return int64_t(0);
    });
  }
};

} // namespace

/// Output channels innermost (true) or the last spatial axis (false).
static bool chooseOutputsInnermost(const Correlation &correlation) {
  const ChannelSizes &channels = correlation.channels;
  if (!channels.hasOutputs())
    return false;
  Type elementType = correlation.accumulate;
  double reduction = static_cast<double>(channels.inputs);
  for (const TapAxis &axis : correlation.axes)
    reduction *= static_cast<double>(axis.taps);
  // The result is transposed afterwards.
  double outputs = getVectorCost(channels.outputs, elementType) + 1 / reduction;
  const TapAxis &last = correlation.axes.back();
  double positions =
      last.stride == 1 ? getVectorCost(last.positions, elementType) : 1;
  return outputs < positions;
}

/// Adds the loops of a piece. Axes of the same kind are the same expressions
/// for all pieces of a correlation.
static CorrelationAxes addLoops(LoopNest &nest, const Correlation &correlation,
                                const Piece &piece, bool outputsInnermost) {
  CorrelationAxes axes;
  auto add = [&](Span span, bool reduction) {
    Axis axis =
        reduction ? nest.addReduction(span.size) : nest.addParallel(span.size);
    axes.begins.push_back({axis, span.begin});
    return axis;
  };
  axes.channels.sizes = correlation.channels;
  axes.batch = nest.addParallel(getShape(correlation.data).front());
  axes.channels.addGroup(nest);
  if (outputsInnermost)
    for (const AxisPiece &part : ArrayRef(piece).drop_back())
      axes.positions.push_back(add(part.positions, /*reduction=*/false));
  else
    axes.channels.addOutput(nest);
  for (auto [axis, part] : llvm::zip(correlation.axes, piece))
    axes.phases.push_back(axis.phases.size() > 1
                              ? add(part.phases, /*reduction=*/false)
                              : Axis());
  axes.channels.addInput(nest, /*reduction=*/true);
  for (auto [axis, part] : llvm::zip(correlation.axes, piece)) {
    Span taps = part.taps;
    if (axis.backwards)
      taps.begin = axis.taps - taps.getEnd();
    axes.taps.push_back(add(taps, /*reduction=*/true));
  }
  if (!outputsInnermost) {
    for (const AxisPiece &part : piece)
      axes.positions.push_back(add(part.positions, /*reduction=*/false));
    axes.stored = join({axes.batch, axes.channels.group, axes.channels.output,
                        axes.phases, axes.positions});
    return axes;
  }
  axes.positions.push_back(add(piece.back().positions, /*reduction=*/false));
  axes.channels.addOutput(nest);
  ArrayRef<Axis> positions = axes.positions;
  axes.stored = join({axes.batch, axes.channels.group, positions.drop_back(),
                      axes.phases, positions.back(), axes.channels.output});
  return axes;
}

namespace {

/// Builds the pieces of a correlation.
class CorrelationBuilder {
public:
  CorrelationBuilder(OpBuilder &builder, Location loc,
                     const Correlation &correlation)
      : builder(builder), loc(loc), correlation(correlation),
        outputsInnermost(chooseOutputsInnermost(correlation)),
        pieces(correlation.axes, cut()), nest(builder, loc),
        axes(addLoops(nest, correlation, getWhole(), outputsInnermost)) {}

  /// Returns [n, g m, (o, r)…] in the accumulator's type.
  Value build();

private:
  SmallVector<SmallVector<AxisPiece>> cut() const;
  Piece getWhole() const;
  Value packKernel();
  Value buildPiece(const Piece &piece, Value data, Value kernel);

  OpBuilder &builder;
  Location loc;
  const Correlation &correlation;
  bool outputsInnermost;
  TapPieces pieces;
  LoopNest nest; ///< of the whole, for its axes only
  CorrelationAxes axes;
  Axes kernelOrder;
};

} // namespace

SmallVector<SmallVector<AxisPiece>> CorrelationBuilder::cut() const {
  SmallVector<SmallVector<AxisPiece>> cuts;
  // Vectors along positions want many of them.
  for (auto [index, axis] : llvm::enumerate(correlation.axes))
    cuts.push_back(cutByPositions(
        axis, outputsInnermost || index + 1 < correlation.axes.size()));
  return cuts;
}

Piece CorrelationBuilder::getWhole() const {
  Piece whole;
  for (const TapAxis &axis : correlation.axes)
    whole.push_back({{0, axis.positions},
                     {0, static_cast<int64_t>(axis.phases.size())},
                     {0, axis.taps}});
  return whole;
}

/// The kernel, with output channels contiguous if they are innermost.
Value CorrelationBuilder::packKernel() {
  const ChannelAxes &channels = axes.channels;
  Axes from = axes.getKernel(correlation.inputsFirst);
  // Axes of one element that have no loop go away, groups are split off.
  Value kernel =
      createReshape(builder, loc, correlation.kernel, nest.getSizes(from));
  kernelOrder = from;
  if (outputsInnermost)
    kernelOrder = join({channels.group, axes.phases, channels.input, axes.taps,
                        channels.output});
  return pack(builder, loc, kernel, from, kernelOrder);
}

/// The piece's part of the result, in the order of its storage.
Value CorrelationBuilder::buildPiece(const Piece &piece, Value data,
                                     Value kernel) {
  LoopNest nest(builder, loc);
  CorrelationAxes axes = addLoops(nest, correlation, piece, outputsInnermost);
  Axes space =
      getTapPositions(correlation.axes, piece, axes.positions, axes.taps);
  Axes order =
      join({axes.batch, axes.channels.group, axes.channels.input, space});
  nest.read(
      pieces.slice(builder, loc, data, piece, order.size() - space.size()),
      order);
  nest.read(createSlice(builder, loc, kernel, axes.getOffsets(kernelOrder),
                        nest.getSizes(kernelOrder)),
            kernelOrder);
  nest.accumulate(createZero(builder, loc, correlation.accumulate),
                  axes.stored);
  return nest.build(multiplyAdd).front();
}

Value CorrelationBuilder::build() {
  Value zero = createZero(builder, loc, correlation.accumulate);
  Axes natural = axes.getSpace();
  SmallVector<int64_t> shape = nest.getSizes(join({axes.batch}));
  shape.push_back(correlation.channels.groups * correlation.channels.outputs);
  llvm::append_range(shape, nest.getSizes(natural));
  SmallVector<Piece> parts = pieces.getPieces();
  if (parts.empty())
    return createFilled(builder, loc, shape, zero);

  Value data =
      splitChannels(builder, loc, pieces.pad(builder, loc, correlation.data), 1,
                    correlation.channels.groups);
  Value kernel = packKernel();
  Value result;
  if (!pieces.hasAllPositions())
    result = createFilled(builder, loc, nest.getSizes(axes.stored), zero);
  else if (parts.size() > 1)
    result = tensor::EmptyOp::create(builder, loc, nest.getSizes(axes.stored),
                                     correlation.accumulate);
  for (const Piece &piece : parts) {
    Value part = buildPiece(piece, data, kernel);
    if (!result) {
      result = part;
      continue;
    }
    LoopNest names(builder, loc);
    CorrelationAxes placed =
        addLoops(names, correlation, piece, outputsInnermost);
    result = createInsert(builder, loc, part, result,
                          placed.getOffsets(placed.stored),
                          SmallVector<int64_t>(placed.stored.size(), 1));
  }
  Axes wanted =
      join({axes.batch, axes.channels.group, axes.channels.output, natural});
  result = unpack(builder, loc, result, axes.stored, wanted);
  return createReshape(builder, loc, result, shape);
}

//===----------------------------------------------------------------------===//
// The input gradient's kernel
//===----------------------------------------------------------------------===//

/// The weight as the kernel of a correlation with the output's gradient, last
/// tap first: taps of an axis are split into [tap, phase] where there are
/// several phases, with zeros for taps that don't exist.
static Value createInverseKernel(OpBuilder &builder, Location loc, Value weight,
                                 const InverseWindow &inverse) {
  Value zero = createZero(builder, loc, getElementType(weight));
  SmallVector<int64_t> shape(getShape(weight));
  SmallVector<int64_t> strides(shape.size(), 1), offsets(shape.size(), 0);
  size_t leading = shape.size() - inverse.size();
  SmallVector<int64_t> split(ArrayRef(shape).take_front(leading));
  for (auto [index, axis] : llvm::enumerate(inverse)) {
    split.push_back(axis.taps);
    if (axis.phases == 1)
      continue;
    split.push_back(axis.phases);
    offsets[leading + index] = axis.offset;
    strides[leading + index] = axis.dilation;
    shape[leading + index] = axis.taps * axis.phases;
  }
  if (ArrayRef<int64_t>(shape) != getShape(weight))
    weight =
        createInsert(builder, loc, weight,
                     createFilled(builder, loc, shape, zero), offsets, strides);
  return createReshape(builder, loc, weight, split);
}

namespace {

struct ConvLowering : public OpConversionPattern<ConvOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConvOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput(), weight = adaptor.getWeight();
    Type elementType = getElementType(input);
    ArrayRef<int64_t> positions =
        op.getResult().getType().getShape().drop_front(2);
    ArrayRef<int64_t> sizes = getShape(input).drop_front(2);
    TrimmedWindow trimmed(getWindow(op, getShape(weight).drop_front(2)), sizes,
                          positions);
    Correlation correlation;
    correlation.data = input;
    correlation.kernel = trimWeight(rewriter, loc, weight, trimmed);
    correlation.inputsFirst = false;
    correlation.channels = getChannelSizes(getShape(weight), op.getGroups());
    for (auto [axis, size, count] : llvm::zip(trimmed.window, sizes, positions))
      correlation.axes.emplace_back(axis, size, count);
    correlation.accumulate = op.getAccumulate().value_or(elementType);
    rewriter.replaceOp(
        op,
        resizeElements(rewriter, loc,
                       CorrelationBuilder(rewriter, loc, correlation).build(),
                       elementType));
    return success();
  }
};

/// Each phase of the stride sees its own taps of the weight, so no products
/// with the gaps between strided windows are computed.
struct ConvInputGradientLowering
    : public OpConversionPattern<ConvInputGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConvInputGradientOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value gradient = adaptor.getGradient(), weight = adaptor.getWeight();
    Type elementType = getElementType(gradient);
    ArrayRef<int64_t> windows = getShape(gradient).drop_front(2);
    ArrayRef<int64_t> sizes = op.getInputShape().drop_front(2);
    TrimmedWindow trimmed(getWindow(op, getShape(weight).drop_front(2)), sizes,
                          windows);
    InverseWindow inverse = getInverse(trimmed.window, sizes, windows);
    Correlation correlation;
    correlation.data = gradient;
    correlation.kernel = createInverseKernel(
        rewriter, loc, trimWeight(rewriter, loc, weight, trimmed), inverse);
    correlation.inputsFirst = true;
    correlation.channels = getChannelSizes(getShape(weight), op.getGroups());
    std::swap(correlation.channels.inputs, correlation.channels.outputs);
    for (auto [axis, count] : llvm::zip(inverse, windows))
      correlation.axes.emplace_back(axis, count);
    correlation.accumulate = op.getAccumulate().value_or(elementType);
    Value elements = CorrelationBuilder(rewriter, loc, correlation).build();
    elements =
        assembleInput(rewriter, loc, elements, inverse, op.getInputShape());
    rewriter.replaceOp(op,
                       resizeElements(rewriter, loc, elements, elementType));
    return success();
  }
};

} // namespace

void hfta::populateConvolutionToLinalgPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns) {
  patterns.add<ConvLowering, ConvInputGradientLowering>(converter,
                                                        patterns.getContext());
  populateWeightGradientPatterns(converter, patterns);
}
