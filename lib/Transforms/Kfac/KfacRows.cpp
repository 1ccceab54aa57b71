//===- KfacRows.cpp - Second moments of a layer's rows --------------------===//

#include "Kfac/KfacRows.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "Hfta/Dialect/Hfta/IR/Expression.h"

using namespace mlir;
using namespace mlir::hfta;

static ArrayRef<int64_t> getTaps(LayerOp layer) {
  return getShape(layer.getWeightGradient()).drop_front(2);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Returns the axis that holds the samples, in the shape of `side` or, for
/// patches, in that of `value`, from which the rows are computed. Returns
/// nothing if there is none, or if the rows don't include it. `stride` is the
/// stride of samples in `value`, if it is known.
static std::optional<SampleAxis> findSamples(const LayerSide &side, Value value,
                                             std::optional<int64_t> stride,
                                             int64_t samples) {
  if (!stride || side.kind == LayerSide::Kind::lookups)
    return std::nullopt;
  bool hasPatches = side.kind == LayerSide::Kind::patches;
  std::optional<SampleAxis> found = findSampleAxis(
      hasPatches ? getShape(value) : ArrayRef<int64_t>(side.shape), *stride,
      samples);
  // Axis 0 of a convolution's operand numbers images, perhaps of several
  // positions of each sample.
  bool isRow =
      found && (hasPatches ? found->axis == 0
                           : llvm::is_contained(side.getRows(), found->axis));
  return isRow ? found : std::nullopt;
}

bool hfta::hasSamples(LayerOp layer, const LayerAxes &axes, int64_t samples) {
  return findSamples(axes.input, layer.getInput(), layer.getInputSamples(),
                     samples) &&
         findSamples(axes.output, layer.getOutputGradient(),
                     layer.getOutputSamples(), samples);
}

int64_t hfta::splitAtSamples(SmallVectorImpl<int64_t> &shape,
                             const SampleAxis &at, int64_t samples) {
  SmallVector<int64_t, 3> pieces;
  if (at.outer > 1)
    pieces.push_back(at.outer);
  auto kept = at.axis + static_cast<int64_t>(pieces.size());
  pieces.push_back(samples);
  if (at.inner > 1)
    pieces.push_back(at.inner);
  auto *begin = shape.begin() + at.axis;
  begin = shape.erase(begin);
  shape.insert(begin, pieces.begin(), pieces.end());
  return kept;
}

static Value reduceColumns(const Expression &all, LayerSide &side,
                           const SampleAxis &at, int64_t samples,
                           bool isOutput) {
  auto before = static_cast<int64_t>(side.shape.size());
  int64_t kept = splitAtSamples(side.shape, at, samples);
  int64_t more = static_cast<int64_t>(side.shape.size()) - before;
  for (SmallVector<int64_t> *axes : {&side.blocks, &side.columns})
    for (int64_t &axis : *axes)
      axis += axis > at.axis ? more : 0;
  SmallVector<int64_t> positions = side.getRows();
  llvm::erase(positions, kept);
  int64_t count = 1;
  for (int64_t axis : positions)
    count *= side.shape[axis];
  Expression rows = all.reshape(side.shape);
  if (positions.empty())
    return rows;
  rows = rows.sum(positions);
  LayerSide reduced;
  reduced.shape.assign(rows.getShape());
  auto shift = [&](ArrayRef<int64_t> axes) {
    SmallVector<int64_t> shifted;
    for (int64_t axis : axes)
      shifted.push_back(axis - llvm::count_if(positions, [&](int64_t gone) {
                          return gone < axis;
                        }));
    return shifted;
  };
  reduced.blocks = shift(side.blocks);
  reduced.columns = shift(side.columns);
  side = reduced;
  return isOutput ? rows : rows / static_cast<double>(count);
}

/// Returns for each image, channel and tap the sum of the elements that the tap
/// visits as the window moves; for an input, their mean. Updates `side` to the
/// axes of the result.
static Expression reducePatches(OpBuilder &builder, const Expression &all,
                                LayerSide &side, LayerOp layer, bool isOutput) {
  ArrayRef<int64_t> taps = getTaps(layer), padding = *layer.getPadding();
  ArrayRef<int64_t> strides = *layer.getStrides();
  ArrayRef<int64_t> dilations = *layer.getDilations();
  auto spatial = static_cast<int64_t>(taps.size());
  SmallVector<int64_t> low = {0, 0}, high = {0, 0}, interior(spatial + 2, 0);
  llvm::append_range(low, padding.take_front(spatial));
  llvm::append_range(high, padding.drop_front(spatial));
  Type type = all.getElementType();
  Expression padded = all.apply<PadOp>(
      ArrayRef<int64_t>(low), ArrayRef<int64_t>(high),
      ArrayRef<int64_t>(interior), cast<TypedAttr>(FloatAttr::get(type, 0.0)));
  ArrayRef<int64_t> shape = padded.getShape();
  int64_t images = shape[0], channels = shape[1];
  SmallVector<int64_t> sizes = {images, channels}, steps = {1, 1}, axes;
  int64_t count = 1;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    int64_t reach = dilations[axis] * (taps[axis] - 1) + 1;
    sizes.push_back((shape[axis + 2] - reach) / strides[axis] + 1);
    steps.push_back(strides[axis]);
    axes.push_back(axis + 2);
    count *= sizes.back();
  }
  SmallVector<Value> sums;
  int64_t number = llvm::product_of(taps);
  for (int64_t tap = 0; tap < number; ++tap) {
    SmallVector<int64_t> offsets(spatial + 2, 0);
    for (int64_t axis = spatial - 1, rest = tap; axis >= 0; --axis) {
      offsets[axis + 2] = rest % taps[axis] * dilations[axis];
      rest /= taps[axis];
    }
    sums.push_back(padded
                       .apply<SliceOp>(ArrayRef<int64_t>(offsets),
                                       ArrayRef<int64_t>(sizes),
                                       ArrayRef<int64_t>(steps))
                       .sum(axes)
                       .reshape({images, channels, 1}));
  }
  Expression rows = all.at(sums.front());
  if (number > 1)
    rows = all.at(ConcatOp::create(builder, layer.getLoc(), sums, /*axis=*/2));
  auto groups = static_cast<int64_t>(layer.getGroups());
  side = LayerSide();
  side.shape = {images, groups, channels / groups * number};
  side.blocks = {1};
  side.columns = {2};
  rows = rows.reshape(side.shape);
  return isOutput ? rows : rows / static_cast<double>(count);
}

Value hfta::reducePositions(OpBuilder &builder, Value rows, LayerSide &side,
                            LayerOp layer, int64_t samples, bool isOutput) {
  Expression all(builder, layer.getLoc(), rows);
  SampleAxis at = *findSamples(
      side, rows, isOutput ? layer.getOutputSamples() : layer.getInputSamples(),
      samples);
  if (side.kind == LayerSide::Kind::patches)
    all = reducePatches(builder, all, side, layer, isOutput);
  return reduceColumns(all, side, at, samples, isOutput);
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

/// Returns `sum` plus the number of times that each row of a table is looked
/// up.
static Value countLookups(OpBuilder &builder, Value indices, LayerOp layer,
                          Value sum) {
  Expression counts(builder, layer.getLoc(), sum);
  int64_t lookups = ShapedType::getNumElements(getShape(indices));
  int64_t size = counts.getShape().front();
  Value flat = ReshapeOp::create(builder, layer.getLoc(), indices, lookups);
  Expression ones = counts.at(BroadcastOp::create(
      builder, layer.getLoc(),
      ConstantOp::create(builder, layer.getLoc(),
                         DenseElementsAttr::get(
                             RankedTensorType::get({}, counts.getElementType()),
                             ArrayRef<Attribute>(FloatAttr::get(
                                 counts.getElementType(), 1.0)))),
      ArrayRef<int64_t>{lookups}, ArrayRef<int64_t>{}));
  return counts + ones.apply<ScatterAddOp>(flat, /*axis=*/0, size);
}

/// Merges the axes of columns to one, after moving them to the end unless they
/// are adjacent and in order. Updates `side`.
static Expression mergeColumns(const Expression &rows, LayerSide &side) {
  auto rank = static_cast<int64_t>(side.shape.size());
  auto count = static_cast<int64_t>(side.columns.size());
  Expression merged = rows;
  int64_t first = count > 0 ? side.columns.front() : rank;
  if (!llvm::equal(side.columns, llvm::seq(first, first + count))) {
    SmallVector<int64_t> order, places(rank), shape;
    for (int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(side.columns, axis))
        order.push_back(axis);
    llvm::append_range(order, side.columns);
    for (auto [place, axis] : llvm::enumerate(order)) {
      places[axis] = static_cast<int64_t>(place);
      shape.push_back(side.shape[axis]);
    }
    merged = merged.apply<TransposeOp>(ArrayRef<int64_t>(order));
    side.shape = shape;
    for (int64_t &axis : side.blocks)
      axis = places[axis];
    first = rank - count;
  }
  int64_t columns = llvm::product_of(ArrayRef(side.shape).slice(first, count));
  side.shape.erase(side.shape.begin() + first,
                   side.shape.begin() + first + count);
  side.shape.insert(side.shape.begin() + first, columns);
  for (int64_t &axis : side.blocks)
    axis += axis >= first + count ? 1 - count : 0;
  side.columns = {first};
  return merged.reshape(side.shape);
}

/// Cuts the columns into the factor's pieces, each of which becomes a block.
/// First appends a column of ones, if `ones`, and then as many of zeros as the
/// last piece lacks. Updates `side`.
static Value cutColumns(Expression rows, LayerSide &side, bool ones,
                        const KfacFactor &factor) {
  rows = mergeColumns(rows, side);
  int64_t axis = side.columns.front();
  auto append = [&](int64_t count, double number) {
    if (count == 0)
      return;
    SmallVector<int64_t> none(side.shape.size(), 0), high = none;
    high[axis] = count;
    rows = rows.apply<PadOp>(
        ArrayRef<int64_t>(none), ArrayRef<int64_t>(high),
        ArrayRef<int64_t>(none),
        cast<TypedAttr>(FloatAttr::get(rows.getElementType(), number)));
  };
  append(ones ? 1 : 0, 1);
  append(factor.getPaddedColumns() - factor.columns, 0);
  for (int64_t &block : side.blocks)
    block += block > axis ? 1 : 0;
  side.blocks.push_back(axis);
  side.columns = {axis + 1};
  side.shape[axis] = factor.pieces;
  side.shape.insert(side.shape.begin() + axis + 1, factor.size);
  return rows.reshape(side.shape);
}

Value hfta::buildSecondMoment(OpBuilder &builder, Value rows, LayerSide side,
                              LayerOp layer, bool ones, Value sum,
                              const KfacFactor &factor) {
  Location loc = layer.getLoc();
  bool isCut = factor.pieces > 1;
  auto scale = builder.getF64FloatAttr(1.0);
  UnitAttr hasOnes = ones ? builder.getUnitAttr() : UnitAttr();
  switch (side.kind) {
  case LayerSide::Kind::lookups:
    return countLookups(builder, rows, layer, sum);
  case LayerSide::Kind::patches:
    return PatchMomentOp::create(
        builder, loc, rows, sum, builder.getDenseI64ArrayAttr(getTaps(layer)),
        layer.getStridesAttr(), layer.getDilationsAttr(),
        layer.getPaddingAttr(), layer.getGroupsAttr(),
        isCut ? builder.getI64IntegerAttr(factor.size) : IntegerAttr(), scale,
        hasOnes, TypeAttr());
  case LayerSide::Kind::columns:
    break;
  }
  if (getShape(rows) != ArrayRef<int64_t>(side.shape))
    rows = ReshapeOp::create(builder, loc, rows, side.shape);
  if (isCut) {
    rows = cutColumns(Expression(builder, loc, rows), side, ones, factor);
    hasOnes = {};
  }
  return SecondMomentOp::create(
      builder, loc, rows, sum, builder.getDenseI64ArrayAttr(side.blocks),
      builder.getDenseI64ArrayAttr(side.columns), scale, hasOnes, TypeAttr());
}
