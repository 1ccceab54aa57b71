//===- ConvolutionToLinalg.cpp - Lowering of convolution, input gradient --===//
//
// A convolution and its input gradient are both correlations of a padded tensor
// with a kernel. A correlation may be divided into pieces that need less
// padding. The innermost loop runs over output channels or groups, for which
// the kernel is packed so that they are contiguous, or over the last spatial
// axis, whichever suits vectors better.
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Target/ReferenceModel.h"
#include "ProductLowering.h"
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

Activation hfta::splitChannels(OpBuilder &builder, Location loc,
                               const Activation &activation, int64_t groups) {
  size_t axis = activation.getChannelAxis();
  ArrayRef<int64_t> shape = getShape(activation.elements);
  int64_t channels = shape[axis] / groups;
  if (groups == 1 || channels == 1)
    return activation;
  SmallVector<int64_t> split(shape);
  split[axis] = groups;
  split.insert(split.begin() + axis + 1, channels);
  return {createReshape(builder, loc, activation.elements, split),
          activation.channelsLast};
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

/// A correlation, with batch n, group g, output channel m, input channel c,
/// position o, tap k and phase r:
///   result[n, g m, o, r] = sum over c, k of
///       data[n, g c, o * stride + k * dilation - low] * kernel[g, m, c, k, r]
/// A spatial axis with one phase has no index r.
struct Correlation {
  Activation data;
  Value kernel; ///< the kernel, [g, m, c, (k, r)…] or [g, c, m, (k, r)…]; g may
                ///< be joined with the axis that follows
  bool inputsFirst;        ///< whether the kernel has the order [g, c, m, …]
  bool spaceFirst = false; ///< whether its axes (k, r)… come before all others;
                           ///< only without groups
  ChannelSizes channels;
  SmallVector<TapAxis> axes;
  Type accumulate;
  bool channelsLast; ///< whether the result is stored with channels last
  ProductForm form;
};

/// The axis of a correlation's innermost loop.
enum class Innermost { outputs, groups, positions };

/// The loops of one piece of a correlation.
struct CorrelationAxes {
  Axis batch;
  ChannelAxes channels;
  Axes taps, phases, positions;
  SmallVector<std::pair<Axis, int64_t>>
      begins;  ///< each loop's first index in the whole correlation
  Axes stored; ///< the result's axes in the order in which they are stored

  /// Returns the axes (first[i], phase) of each spatial axis i, without null
  /// phases.
  Axes interleave(ArrayRef<Axis> first) const {
    Axes result;
    for (auto [axis, phase] : llvm::zip(first, phases))
      result.append(join({axis, phase}));
    return result;
  }
  /// Returns the result's axes, with channels last or first.
  Axes getResult(bool channelsLast) const {
    Axes space = interleave(positions);
    return channelsLast ? join({batch, space, channels.group, channels.output})
                        : join({batch, channels.group, channels.output, space});
  }
  Axes getKernel(const Correlation &correlation) const {
    Axes ordered =
        correlation.inputsFirst
            ? join({channels.group, channels.input, channels.output})
            : join({channels.group, channels.output, channels.input});
    return correlation.spaceFirst ? join({interleave(taps), ordered})
                                  : join({ordered, interleave(taps)});
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

/// Chooses the fastest loop order. Costs are cycles per product: a product in
/// full vectors takes 1 / lanes cycles, and packing an element takes one cycle.
static Innermost chooseInnermost(const Correlation &correlation) {
  const ChannelSizes &channels = correlation.channels;
  if (correlation.form == ProductForm::whole) {
    if (!correlation.channelsLast)
      return Innermost::positions;
    return channels.hasOutputs() || channels.hasInputs() ? Innermost::outputs
                                                         : Innermost::groups;
  }
  Type elementType = correlation.accumulate;
  double taps = 1;
  for (const TapAxis &axis : correlation.axes)
    taps *= static_cast<double>(axis.taps);
  double moveResult = 1 / (static_cast<double>(channels.inputs) * taps);
  double moveData = 1 / (static_cast<double>(channels.outputs) * taps);
  double moveToLast = correlation.channelsLast ? 0 : moveResult;
  const TapAxis &last = correlation.axes.back();

  double positions =
      last.stride == 1 ? getVectorCost(last.positions, elementType) : 1;
  positions += moveResult - moveToLast;
  if (correlation.data.channelsLast)
    positions += moveData;
  Cheapest<Innermost> best(Innermost::positions, positions);
  if (channels.hasOutputs())
    best.offer(Innermost::outputs,
               getVectorCost(channels.outputs, elementType) + moveToLast);
  else if (!channels.hasInputs())
    best.offer(Innermost::groups,
               getVectorCost(channels.groups, elementType) + moveToLast +
                   (correlation.data.channelsLast ? 0 : moveData));
  return best.get();
}

/// Returns the indices of the spatial axes in the order of the loops over their
/// taps, the outermost first.
static SmallVector<size_t> getTapOrder(const Correlation &correlation,
                                       Innermost innermost) {
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, correlation.axes.size()));
  // With few output channels, few products use a vector of data once it is
  // loaded. The loop over the last axis' taps becomes the outermost then: its
  // taps read different vectors, whereas the windows of neighbouring rows
  // overlap and can reuse them.
  if (innermost == Innermost::positions &&
      correlation.form == ProductForm::vectors &&
      correlation.channels.outputs <= ReferenceModel::Windows::kFewOutputs)
    std::rotate(order.begin(), order.end() - 1, order.end());
  return order;
}

/// Adds the loops of one piece to `nest`. An axis has the same position in the
/// nest for every piece of a correlation, so that axes of one piece can be used
/// with those of another.
static CorrelationAxes addLoops(LoopNest &nest, const Correlation &correlation,
                                const Piece &piece, Innermost innermost) {
  CorrelationAxes axes;
  auto add = [&](Span span, bool reduction) {
    Axis axis =
        reduction ? nest.addReduction(span.size) : nest.addParallel(span.size);
    axes.begins.push_back({axis, span.begin});
    return axis;
  };
  bool arePositions = innermost == Innermost::positions;
  axes.channels.sizes = correlation.channels;
  axes.batch = nest.addParallel(getShape(correlation.data.elements).front());
  if (innermost != Innermost::groups)
    axes.channels.addGroup(nest);
  if (arePositions)
    axes.channels.addOutput(nest);
  else
    for (const AxisPiece &part : ArrayRef(piece).drop_back())
      axes.positions.push_back(add(part.positions, /*reduction=*/false));
  for (auto [axis, part] : llvm::zip(correlation.axes, piece))
    axes.phases.push_back(axis.phases.size() > 1
                              ? add(part.phases, /*reduction=*/false)
                              : Axis());
  // Sums terms in the order in which the data is stored.
  bool channelsLast = correlation.data.channelsLast;
  if (!channelsLast)
    axes.channels.addInput(nest, /*reduction=*/true);
  axes.taps.resize(piece.size());
  for (size_t index : getTapOrder(correlation, innermost)) {
    const TapAxis &axis = correlation.axes[index];
    Span taps = piece[index].taps;
    if (axis.backwards)
      taps.begin = axis.taps - taps.getEnd();
    axes.taps[index] = add(taps, /*reduction=*/true);
  }
  if (channelsLast)
    axes.channels.addInput(nest, /*reduction=*/true);
  if (arePositions) {
    for (const AxisPiece &part : piece)
      axes.positions.push_back(add(part.positions, /*reduction=*/false));
    axes.stored = join({axes.batch, axes.channels.group, axes.channels.output,
                        axes.phases, axes.positions});
    return axes;
  }
  axes.positions.push_back(add(piece.back().positions, /*reduction=*/false));
  if (innermost == Innermost::groups)
    axes.channels.addGroup(nest);
  else
    axes.channels.addOutput(nest);
  axes.stored = axes.getResult(/*channelsLast=*/true);
  return axes;
}

namespace {

/// Builds a correlation, one piece of the result after the other.
class CorrelationBuilder {
public:
  CorrelationBuilder(OpBuilder &builder, Location loc,
                     const Correlation &correlation)
      : builder(builder), loc(loc), correlation(correlation),
        innermost(chooseInnermost(correlation)),
        pieces(correlation.axes, cut()), nest(builder, loc),
        axes(addLoops(nest, correlation, getWhole(), innermost)) {}

  /// Returns the result, in which each spatial axis is a pair (position,
  /// phase), with elements of type `accumulate`. Its channels are stored last
  /// if the correlation's `channelsLast` is set.
  Activation build();

private:
  SmallVector<SmallVector<AxisPiece>> cut() const;
  Piece getWhole() const;
  Value packKernel();
  Activation packData();
  Value buildPiece(const Piece &piece, const Activation &data, Value kernel);
  Value buildPieces(ArrayRef<Piece> parts);

  OpBuilder &builder;
  Location loc;
  const Correlation &correlation;
  Innermost innermost;
  TapPieces pieces;
  LoopNest nest; ///< a nest of the whole correlation, which is used only for
                 ///< its axes
  CorrelationAxes axes;
  Axes kernelOrder;
};

} // namespace

SmallVector<SmallVector<AxisPiece>> CorrelationBuilder::cut() const {
  SmallVector<SmallVector<AxisPiece>> cuts;
  if (correlation.form == ProductForm::whole) {
    for (const AxisPiece &axis : getWhole())
      cuts.push_back({axis});
    return cuts;
  }
  // Vectors along the last axis need many positions, so this axis isn't cut by
  // positions.
  for (auto [index, axis] : llvm::enumerate(correlation.axes))
    cuts.push_back(
        cutByPositions(axis, innermost != Innermost::positions ||
                                 index + 1 < correlation.axes.size()));
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

/// Packs the kernel so that the channels of the innermost loop are contiguous.
Value CorrelationBuilder::packKernel() {
  const ChannelAxes &channels = axes.channels;
  Axes from = axes.getKernel(correlation);
  // Drops axes of one element that have no loop, and splits the convolution's
  // groups from the channels.
  Value kernel =
      createReshape(builder, loc, correlation.kernel, nest.getSizes(from));
  kernelOrder = from;
  if (correlation.form == ProductForm::whole || correlation.spaceFirst)
    return kernel;
  if (innermost == Innermost::outputs)
    kernelOrder = correlation.data.channelsLast
                      ? join({channels.group, axes.phases, axes.taps,
                              channels.input, channels.output})
                      : join({channels.group, axes.phases, channels.input,
                              axes.taps, channels.output});
  if (innermost == Innermost::groups)
    kernelOrder = join({axes.phases, axes.taps, channels.group});
  return pack(builder, loc, kernel, from, kernelOrder);
}

/// Packs the data if vectors along the innermost axis wouldn't be contiguous
/// otherwise.
Activation CorrelationBuilder::packData() {
  Activation data = correlation.data;
  if (innermost != Innermost::outputs &&
      correlation.form == ProductForm::vectors)
    data = data.store(builder, loc, innermost == Innermost::groups);
  return splitChannels(builder, loc, pieces.pad(builder, loc, data),
                       correlation.channels.groups);
}

/// Builds one piece of the result, with its axes in the order in which they are
/// stored.
Value CorrelationBuilder::buildPiece(const Piece &piece, const Activation &data,
                                     Value kernel) {
  LoopNest nest(builder, loc);
  CorrelationAxes axes = addLoops(nest, correlation, piece, innermost);
  const ChannelAxes &channels = axes.channels;
  Axes space =
      getTapPositions(correlation.axes, piece, axes.positions, axes.taps);
  Axes order = data.channelsLast
                   ? join({axes.batch, space, channels.group, channels.input})
                   : join({axes.batch, channels.group, channels.input, space});
  size_t firstSpace = llvm::find(order, space.front()) - order.begin();
  nest.read(pieces.slice(builder, loc, data.elements, piece, firstSpace),
            order);
  nest.read(createSlice(builder, loc, kernel, axes.getOffsets(kernelOrder),
                        nest.getSizes(kernelOrder)),
            kernelOrder);
  nest.accumulate(createZero(builder, loc, correlation.accumulate),
                  axes.stored);
  return nest.build(multiplyAdd).front();
}

/// Builds all pieces of the result, with its axes in the order in which they
/// are stored.
Value CorrelationBuilder::buildPieces(ArrayRef<Piece> parts) {
  Activation data = packData();
  Value kernel = packKernel(), result;
  if (!pieces.hasAllPositions())
    result = createFilled(builder, loc, nest.getSizes(axes.stored),
                          createZero(builder, loc, correlation.accumulate));
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
    CorrelationAxes placed = addLoops(names, correlation, piece, innermost);
    result = createInsert(builder, loc, part, result,
                          placed.getOffsets(placed.stored),
                          SmallVector<int64_t>(placed.stored.size(), 1));
  }
  return result;
}

Activation CorrelationBuilder::build() {
  bool channelsLast = correlation.channelsLast;
  Axes wanted = axes.getResult(channelsLast);
  SmallVector<Piece> parts = pieces.getPieces();
  Value result;
  if (parts.empty())
    result = createFilled(builder, loc, nest.getSizes(wanted),
                          createZero(builder, loc, correlation.accumulate));
  else
    result = unpack(builder, loc, buildPieces(parts), axes.stored, wanted);
  // Joins the groups and the channels of a group into one axis.
  SmallVector<int64_t> shape = nest.getSizes(wanted);
  const ChannelSizes &channels = correlation.channels;
  size_t split = (channels.groups > 1) + channels.hasOutputs();
  auto *first = channelsLast ? shape.end() - split : shape.begin() + 1;
  shape.insert(shape.erase(first, first + split),
               channels.groups * channels.outputs);
  return {createReshape(builder, loc, result, shape), channelsLast};
}

//===----------------------------------------------------------------------===//
// The input gradient's kernel
//===----------------------------------------------------------------------===//

/// Turns a weight into the kernel of a correlation with the gradient of the
/// output. The last tap comes first. A spatial axis with several phases is
/// split into [tap, phase]; pairs for which there is no tap are zeros. If
/// `spaceFirst` is set, spatial axes come before channels.
static Value createInverseKernel(OpBuilder &builder, Location loc, Value weight,
                                 const InverseWindow &inverse,
                                 bool spaceFirst) {
  Value zero = createZero(builder, loc, getElementType(weight));
  size_t channels = getShape(weight).size() - inverse.size();
  size_t leading = spaceFirst ? 0 : channels;
  if (spaceFirst) {
    auto order =
        llvm::to_vector(llvm::seq<int64_t>(0, getShape(weight).size()));
    std::rotate(order.begin(), order.begin() + channels, order.end());
    weight = pack(builder, loc, weight, order);
  }
  SmallVector<int64_t> shape(getShape(weight));
  SmallVector<int64_t> strides(shape.size(), 1), offsets(shape.size(), 0);
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
  if (spaceFirst)
    llvm::append_range(split, ArrayRef(shape).take_back(channels));
  if (ArrayRef<int64_t>(shape) != getShape(weight))
    weight =
        createInsert(builder, loc, weight,
                     createFilled(builder, loc, shape, zero), offsets, strides);
  return createReshape(builder, loc, weight, split);
}

/// Replaces a convolution, or an input gradient, by its sums in the op's
/// element type and axis order.
template <typename ConvolutionOp>
static void replace(ConversionPatternRewriter &rewriter, ConvolutionOp op,
                    Activation sums) {
  Location loc = op.getLoc();
  sums.elements = resizeElements(rewriter, loc, sums.elements,
                                 op.getResult().getType().getElementType());
  rewriter.replaceOp(op, sums.getLogical(rewriter, loc));
}

namespace {

struct ConvLowering : public ProductLowering<ConvOp> {
  using ProductLowering::ProductLowering;

  LogicalResult lower(ConvOp op, OpAdaptor adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Activation input = Activation::get(adaptor.getInput());
    Value weight = adaptor.getWeight();
    Type elementType = op.getResult().getType().getElementType();
    ArrayRef<int64_t> positions =
        op.getResult().getType().getShape().drop_front(2);
    ArrayRef<int64_t> sizes = input.getSpace();
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
    correlation.channelsLast = isStoredChannelsLast(op.getResult());
    correlation.form = form;
    replace(rewriter, op,
            CorrelationBuilder(rewriter, loc, correlation).build());
    return success();
  }
};

/// Lowers an input gradient. Each phase of the stride uses its own taps of the
/// weight, so that no products with the zeros between strided windows are
/// computed.
struct ConvInputGradientLowering : public ProductLowering<ConvInputGradientOp> {
  using ProductLowering::ProductLowering;

  LogicalResult lower(ConvInputGradientOp op, OpAdaptor adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Activation gradient = Activation::get(adaptor.getGradient());
    Value weight = adaptor.getWeight();
    Type elementType = op.getResult().getType().getElementType();
    ArrayRef<int64_t> windows = gradient.getSpace();
    ArrayRef<int64_t> sizes = op.getInputShape().drop_front(2);
    TrimmedWindow trimmed(getWindow(op, getShape(weight).drop_front(2)), sizes,
                          windows);
    InverseWindow inverse = getInverse(trimmed.window, sizes, windows);
    Correlation correlation;
    correlation.data = gradient;
    correlation.inputsFirst = true;
    correlation.channels = getChannelSizes(getShape(weight), op.getGroups());
    std::swap(correlation.channels.inputs, correlation.channels.outputs);
    for (auto [axis, count] : llvm::zip(inverse, windows))
      correlation.axes.emplace_back(axis, count);
    correlation.accumulate = op.getAccumulate().value_or(elementType);
    correlation.channelsLast = isStoredChannelsLast(op.getResult());
    correlation.form = form;
    // Channels are moved before phases are split: transposing whole windows is
    // faster than transposing each phase's few taps, and the zeros.
    correlation.spaceFirst =
        form == ProductForm::vectors && gradient.channelsLast &&
        op.getGroups() == 1 &&
        llvm::any_of(inverse,
                     [](const auto &axis) { return axis.phases > 1; }) &&
        chooseInnermost(correlation) == Innermost::outputs;
    correlation.kernel = createInverseKernel(
        rewriter, loc, trimWeight(rewriter, loc, weight, trimmed), inverse,
        correlation.spaceFirst);
    Activation result = CorrelationBuilder(rewriter, loc, correlation).build();
    result.elements = assembleInput(rewriter, loc, result.elements,
                                    result.getFirstSpace(), inverse, sizes);
    replace(rewriter, op, result);
    return success();
  }
};

} // namespace

void hfta::populateConvolutionToLinalgPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               ProductForm form) {
  patterns.add<ConvLowering, ConvInputGradientLowering>(
      converter, patterns.getContext(), form);
  populateWeightGradientPatterns(converter, patterns, form);
}
