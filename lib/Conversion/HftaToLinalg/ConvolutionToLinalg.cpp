//===- ConvolutionToLinalg.cpp - Lowering of convolution, input gradient --===//
//
// Both are correlations of a padded tensor with a kernel. The innermost loop
// runs over output channels, with the kernel packed so that they are
// contiguous, or over the last spatial axis, whichever vectors fit better.
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Hfta/Conversion/HftaToLinalg.h"

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
/// dilation] * kernel[g, m, c, k, r]. A spatial axis with one phase has no r.
struct Correlation {
  Value data;   ///< padded
  Value kernel; ///< [g, m, c, (k, r)…] or [g, c, m, (k, r)…], g may be joined
  bool inputsFirst; ///< the kernel's order is the second one
  ChannelSizes channels;
  Window window; ///< kernel, stride, dilation of what is read
  SmallVector<int64_t> phases, positions;
  Type accumulate;
};

/// The loops of a correlation.
struct CorrelationAxes {
  Axis batch;
  ChannelAxes channels;
  Axes taps, phases, positions;

  /// (first, phase) for each spatial axis.
  Axes interleave(ArrayRef<Axis> first) const {
    Axes result;
    for (auto [axis, phase] : llvm::zip(first, phases))
      result.append(join({axis, phase}));
    return result;
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
  for (const WindowAxis &axis : correlation.window)
    reduction *= static_cast<double>(axis.kernel);
  // The result is transposed afterwards.
  double outputs = getVectorCost(channels.outputs, elementType) + 1 / reduction;
  double positions =
      correlation.window.back().stride == 1
          ? getVectorCost(correlation.positions.back(), elementType)
          : 1;
  return outputs < positions;
}

/// Adds the loops; returns the axes in the order in which results are stored.
static Axes addLoops(LoopNest &nest, const Correlation &correlation,
                     bool outputsInnermost, CorrelationAxes &axes) {
  ArrayRef<int64_t> positions = correlation.positions;
  axes.channels.sizes = correlation.channels;
  axes.batch = nest.addParallel(getShape(correlation.data).front());
  axes.channels.addGroup(nest);
  if (outputsInnermost)
    axes.positions = nest.addParallel(positions.drop_back());
  else
    axes.channels.addOutput(nest);
  for (int64_t phases : correlation.phases)
    axes.phases.push_back(phases > 1 ? nest.addParallel(phases) : Axis());
  axes.channels.addInput(nest, /*reduction=*/true);
  axes.taps =
      nest.addReduction(collect(correlation.window, &WindowAxis::kernel));
  if (!outputsInnermost) {
    axes.positions = nest.addParallel(positions);
    return join({axes.batch, axes.channels.group, axes.channels.output,
                 axes.phases, axes.positions});
  }
  axes.positions.push_back(nest.addParallel(positions.back()));
  axes.channels.addOutput(nest);
  ArrayRef<Axis> stored = axes.positions;
  return join({axes.batch, axes.channels.group, stored.drop_back(), axes.phases,
               stored.back(), axes.channels.output});
}

/// The kernel, with output channels contiguous if they are innermost.
static void readKernel(LoopNest &nest, OpBuilder &builder, Location loc,
                       const Correlation &correlation,
                       const CorrelationAxes &axes, bool outputsInnermost) {
  const ChannelAxes &channels = axes.channels;
  Axes ordered = correlation.inputsFirst
                     ? join({channels.input, channels.output})
                     : join({channels.output, channels.input});
  Axes from = join({channels.group, ordered, axes.interleave(axes.taps)});
  // Axes of one element that have no loop go away, groups are split off.
  SmallVector<int64_t> shape = nest.getSizes(from);
  Value kernel = createReshape(builder, loc, correlation.kernel, shape);
  Axes to = from;
  if (outputsInnermost)
    to = join({channels.group, axes.phases, channels.input, axes.taps,
               channels.output});
  nest.read(pack(builder, loc, kernel, from, to), to);
}

/// Returns [n, g m, (o, r)…] in the accumulator's type.
static Value createCorrelation(OpBuilder &builder, Location loc,
                               const Correlation &correlation) {
  bool outputsInnermost = chooseOutputsInnermost(correlation);
  LoopNest nest(builder, loc);
  CorrelationAxes axes;
  Axes stored = addLoops(nest, correlation, outputsInnermost, axes);
  Axes space = getTapPositions(correlation.window, axes.positions, axes.taps);
  nest.read(
      splitChannels(builder, loc, correlation.data, 1,
                    correlation.channels.groups),
      join({axes.batch, axes.channels.group, axes.channels.input, space}));
  readKernel(nest, builder, loc, correlation, axes, outputsInnermost);
  nest.accumulate(createZero(builder, loc, correlation.accumulate), stored);
  Value result = nest.build(multiplyAdd).front();

  Axes natural = axes.interleave(axes.positions);
  Axes wanted =
      join({axes.batch, axes.channels.group, axes.channels.output, natural});
  result = unpack(builder, loc, result, stored, wanted);
  SmallVector<int64_t> shape = nest.getSizes(join({axes.batch}));
  shape.push_back(correlation.channels.groups * correlation.channels.outputs);
  llvm::append_range(shape, nest.getSizes(natural));
  return createReshape(builder, loc, result, shape);
}

//===----------------------------------------------------------------------===//
// The input gradient's kernel
//===----------------------------------------------------------------------===//

/// The weight as the kernel of a correlation with the output's gradient: taps
/// of an axis are split into [tap, phase] where there are several phases, with
/// zeros for taps that don't exist, and run backwards.
static Value createInverseKernel(OpBuilder &builder, Location loc, Value weight,
                                 const InverseWindow &inverse) {
  Value zero = createZero(builder, loc, getElementType(weight));
  SmallVector<int64_t> shape(getShape(weight));
  SmallVector<int64_t> strides(shape.size(), 1), offsets(shape.size(), 0);
  size_t leading = shape.size() - inverse.size();
  SmallVector<int64_t> split(ArrayRef(shape).take_front(leading));
  SmallVector<bool> backwards(leading, false);
  for (auto [index, axis] : llvm::enumerate(inverse)) {
    if (axis.phases > 1) {
      offsets[leading + index] = axis.offset;
      strides[leading + index] = axis.dilation;
      shape[leading + index] = axis.taps * axis.phases;
    }
    split.push_back(axis.taps);
    backwards.push_back(axis.taps > 1);
    if (axis.phases > 1) {
      split.push_back(axis.phases);
      backwards.push_back(false);
    }
  }
  if (ArrayRef<int64_t>(shape) != getShape(weight))
    weight =
        createInsert(builder, loc, weight,
                     createFilled(builder, loc, shape, zero), offsets, strides);
  return reverse(builder, loc, createReshape(builder, loc, weight, split),
                 backwards);
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
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    Window window = getWindow(op, getShape(weight).drop_front(2));
    Correlation correlation;
    correlation.data = padSpace(rewriter, loc, input, window,
                                createZero(rewriter, loc, elementType));
    correlation.kernel = weight;
    correlation.inputsFirst = false;
    correlation.channels = getChannelSizes(getShape(weight), op.getGroups());
    correlation.window = window;
    correlation.phases.assign(window.size(), 1);
    correlation.positions.assign(shape.begin() + 2, shape.end());
    correlation.accumulate = op.getAccumulate().value_or(elementType);
    rewriter.replaceOp(
        op, resizeElements(rewriter, loc,
                           createCorrelation(rewriter, loc, correlation),
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
    Window window = getWindow(op, getShape(weight).drop_front(2));
    InverseWindow inverse = getInverse(window, op.getInputShape().drop_front(2),
                                       getShape(gradient).drop_front(2));
    Correlation correlation;
    correlation.data = padForInverse(rewriter, loc, gradient, inverse,
                                     createZero(rewriter, loc, elementType));
    correlation.kernel = createInverseKernel(rewriter, loc, weight, inverse);
    correlation.inputsFirst = true;
    correlation.channels = getChannelSizes(getShape(weight), op.getGroups());
    std::swap(correlation.channels.inputs, correlation.channels.outputs);
    for (const InverseWindowAxis &axis : inverse) {
      correlation.window.push_back({axis.taps, 1, axis.step, 0, 0});
      correlation.phases.push_back(axis.phases);
      correlation.positions.push_back(axis.count);
    }
    correlation.accumulate = op.getAccumulate().value_or(elementType);
    Value elements = createCorrelation(rewriter, loc, correlation);
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
