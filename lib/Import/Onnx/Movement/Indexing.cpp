//===- Indexing.cpp - Ops that address elements by indices ----------------===//

#include "Movement/Indexing.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

bool requireIndices(Node &node, Value indices) {
  if (!indices)
    return false;
  Type type = getElementType(indices);
  if (type.isInteger(32) || type.isInteger(64))
    return true;
  node.invalid("indices must be int32 or int64");
  return false;
}

Value repeatAlong(Node &node, Value value, ArrayRef<int64_t> shape,
                  int64_t axis) {
  SmallVector<int64_t> dimensions;
  for (int64_t other = 0, rank = shape.size(); other < rank; ++other)
    if (other != axis)
      dimensions.push_back(other);
  return node.broadcastAlong(value, shape, dimensions);
}

/// Returns indices into an axis of `size` as i64. Negative indices, which count
/// from the axis' end, become positive.
static Value wrapIndices(Node &node, Value indices, int64_t size) {
  Value wide = node.cast(indices, node.getBuilder().getI64Type());
  Value isNegative =
      node.compare(ComparePredicate::less, wide, node.splatLike(wide, 0));
  return node.create<SelectOp>(
      isNegative, node.add(wide, node.splatLike(wide, size)), wide);
}

/// Adds to each element of `places` the element's own index along `axis`, times
/// `stride`.
static Value addOwnIndex(Node &node, Value places, int64_t axis,
                         int64_t stride) {
  if (!places || getShape(places)[axis] == 1)
    return places;
  SmallVector<int64_t> shape(getShape(places));
  Value own = node.create<IotaOp>(ArrayRef<int64_t>(shape), axis,
                                  getElementType(places));
  return node.add(places, node.mul(own, node.splatLike(own, stride)));
}

/// Returns positions in a flattened tensor of `shape`, for a result of the
/// shape of `indices`: the index along `axis` comes from `indices`, and the
/// other indices are those of the result's element.
static Value getPlacesAlong(Node &node, ArrayRef<int64_t> shape, Value indices,
                            int64_t axis) {
  int64_t stride = ShapedType::getNumElements(shape.drop_front(axis + 1));
  Value places = wrapIndices(node, indices, shape[axis]);
  places = node.mul(places, node.splatLike(places, stride));
  for (int64_t other = 0, rank = shape.size(); other < rank; ++other)
    if (other != axis)
      places =
          addOwnIndex(node, places, other,
                      ShapedType::getNumElements(shape.drop_front(other + 1)));
  return places;
}

/// Returns the positions of slices in data of `shape`, counted in slices. The
/// last axis of `indices` holds the indices of a slice along the data's axes
/// after the first `batch` axes, which data and indices have in common.
static Value getPlacesOfSlices(Node &node, ArrayRef<int64_t> shape,
                               Value indices, int64_t batch) {
  SmallVector<int64_t> kept(getShape(indices).drop_back());
  int64_t depth = getShape(indices).back(), rank = shape.size();
  if (depth < 1 || batch + depth > rank)
    return node.invalid("indices of shape " + formatShape(getShape(indices)) +
                        " don't fit data of shape " + formatShape(shape));
  Value places = node.splat(kept, node.getBuilder().getI64Type(), 0);
  ArrayRef<int64_t> sliced = shape.take_front(batch + depth);
  for (int64_t place = 0; place < depth; ++place) {
    SmallVector<int64_t> offsets(kept.size() + 1, 0), sizes(kept);
    offsets.back() = place;
    sizes.push_back(1);
    Value index = node.create<SliceOp>(
        indices, ArrayRef<int64_t>(offsets), ArrayRef<int64_t>(sizes),
        ArrayRef<int64_t>(SmallVector<int64_t>(sizes.size(), 1)));
    index = wrapIndices(node, node.reshape(index, kept), shape[batch + place]);
    places = node.add(
        places,
        node.mul(index, node.splatLike(
                            index, ShapedType::getNumElements(
                                       sliced.drop_front(batch + place + 1)))));
  }
  for (int64_t axis = 0; axis < batch; ++axis)
    places =
        addOwnIndex(node, places, axis,
                    ShapedType::getNumElements(sliced.drop_front(axis + 1)));
  return places;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

Value gatherAlong(Node &node, Value data, Value indices, int64_t axis) {
  if (!data || !indices)
    return Value();
  ArrayRef<int64_t> shape = getShape(data);
  Value flat = node.reshape(data, {ShapedType::getNumElements(shape)});
  return node.create<GatherOp>(flat, getPlacesAlong(node, shape, indices, axis),
                               0);
}

static void importGatherElements(Node &node) {
  Value data = node.getInput(0), indices = node.getInput(1);
  if (!data || !requireIndices(node, indices))
    return;
  ArrayRef<int64_t> shape = getShape(data);
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0), shape.size());
  if (node.failed())
    return;
  if (getShape(indices).size() != shape.size()) {
    node.invalid("indices of shape " + formatShape(getShape(indices)) +
                 " need as many axes as data of shape " + formatShape(shape));
    return;
  }
  node.setOutput(0, gatherAlong(node, data, indices, axis));
}

static void importGatherND(Node &node) {
  Value data = node.getInput(0), indices = node.getInput(1);
  if (!data || !requireIndices(node, indices))
    return;
  ArrayRef<int64_t> shape = getShape(data);
  int64_t batch = node.getInt("batch_dims", 0);
  int64_t indexRank = getType(indices).getRank();
  if (indexRank == 0 || batch < 0 || batch >= indexRank ||
      batch >= static_cast<int64_t>(shape.size()) ||
      shape.take_front(batch) != getShape(indices).take_front(batch)) {
    node.invalid("indices of shape " + formatShape(getShape(indices)) +
                 " don't fit data of shape " + formatShape(shape));
    return;
  }
  Value places = getPlacesOfSlices(node, shape, indices, batch);
  if (!places)
    return;
  int64_t sliced = batch + getShape(indices).back();
  SmallVector<int64_t> slices = {
      ShapedType::getNumElements(shape.take_front(sliced))};
  llvm::append_range(slices, shape.drop_front(sliced));
  node.setOutput(0,
                 node.create<GatherOp>(node.reshape(data, slices), places, 0));
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Combines `updates` with the values of `slices` at `places` along axis 0.
/// Without a reduction, replaces these values.
static Value scatter(Node &node, Value slices, Value places, Value updates,
                     std::optional<ReduceKind> reduction) {
  if (reduction && *reduction != ReduceKind::sum)
    return node.create<ScatterReduceOp>(*reduction, updates, places, slices, 0);
  int64_t size = slices ? getShape(slices)[0] : 0;
  Value scattered = node.create<ScatterAddOp>(updates, places, 0, size);
  if (reduction)
    return node.add(slices, scattered);
  // The operator's definition requires that each place occurs at most once.
  Value ones = node.splat(getShape(places), node.getBuilder().getI64Type(), 1);
  Value hits = node.create<ScatterAddOp>(ones, places, 0, size);
  Value isHit =
      node.compare(ComparePredicate::greater, hits, node.splatLike(hits, 0));
  if (isHit)
    isHit = node.broadcastAlong(isHit, getShape(slices), {0});
  return node.create<SelectOp>(isHit, scattered, slices);
}

namespace {
/// The operands of a Scatter node.
struct ScatterOperands {
  Value data, indices, updates;
  std::optional<ReduceKind> reduction; ///< nothing: updates replace values
};
} // namespace

static std::optional<ReduceKind> readReduction(Node &node) {
  std::string name = node.getString("reduction", "none");
  if (name == "add")
    return ReduceKind::sum;
  if (name == "mul")
    return ReduceKind::product;
  if (name == "max")
    return ReduceKind::max;
  if (name == "min")
    return ReduceKind::min;
  if (name != "none")
    node.invalid("attribute 'reduction' is '" + name + "'");
  return std::nullopt;
}

/// Reads the operands and the reduction of a Scatter node; nothing after an
/// error.
static std::optional<ScatterOperands> readScatter(Node &node) {
  ScatterOperands operands = {node.getInput(0), node.getInput(1),
                              node.getInput(2), readReduction(node)};
  if (!operands.updates || !requireIndices(node, operands.indices) ||
      !node.requireArithmetic(operands.data))
    return std::nullopt;
  return operands;
}

static void importScatterElements(Node &node) {
  std::optional<ScatterOperands> operands = readScatter(node);
  if (!operands)
    return;
  auto [data, indices, updates, reduction] = *operands;
  ArrayRef<int64_t> shape = getShape(data);
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0), shape.size());
  if (node.failed())
    return;
  if (getShape(indices).size() != shape.size() ||
      getShape(updates) != getShape(indices)) {
    node.invalid("updates of shape " + formatShape(getShape(updates)) +
                 " and indices of shape " + formatShape(getShape(indices)) +
                 " don't fit data of shape " + formatShape(shape));
    return;
  }
  int64_t count = ShapedType::getNumElements(getShape(indices));
  Value places = getPlacesAlong(node, shape, indices, axis);
  Value result = scatter(
      node, node.reshape(data, {ShapedType::getNumElements(shape)}),
      node.reshape(places, {count}), node.reshape(updates, {count}), reduction);
  node.setOutput(0, node.reshape(result, shape));
}

static void importScatterND(Node &node) {
  std::optional<ScatterOperands> operands = readScatter(node);
  if (!operands)
    return;
  auto [data, indices, updates, reduction] = *operands;
  ArrayRef<int64_t> shape = getShape(data);
  if (getType(indices).getRank() == 0) {
    node.invalid("indices must have an axis");
    return;
  }
  Value places = getPlacesOfSlices(node, shape, indices, /*batch=*/0);
  if (!places)
    return;
  int64_t depth = getShape(indices).back();
  SmallVector<int64_t> wanted(getShape(places));
  llvm::append_range(wanted, shape.drop_front(depth));
  if (getShape(updates) != ArrayRef<int64_t>(wanted)) {
    node.invalid("updates have shape " + formatShape(getShape(updates)) +
                 ", expected " + formatShape(wanted));
    return;
  }
  SmallVector<int64_t> slices = {
      ShapedType::getNumElements(shape.take_front(depth))};
  SmallVector<int64_t> flat = {ShapedType::getNumElements(getShape(places))};
  llvm::append_range(slices, shape.drop_front(depth));
  llvm::append_range(flat, shape.drop_front(depth));
  Value result = scatter(node, node.reshape(data, slices),
                         node.reshape(places, {flat.front()}),
                         node.reshape(updates, flat), reduction);
  node.setOutput(0, node.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// Indices of extrema
//===----------------------------------------------------------------------===//

/// Returns the index along `axis`, which is removed, of the greatest (or least)
/// element. If several elements are equal, this is the first or the last of
/// them. NaN counts as both the greatest and the least.
static Value findExtremum(Node &node, Value input, int64_t axis, bool greatest,
                          bool last) {
  if (!input)
    return Value();
  SmallVector<int64_t> shape(getShape(input));
  Value extremum =
      node.reduce(greatest ? ReduceKind::max : ReduceKind::min, input, axis);
  Value hit = node.compare(ComparePredicate::equal, input,
                           repeatAlong(node, extremum, shape, axis));
  if (isa<FloatType>(getElementType(input)))
    hit = node.create<OrOp>(
        hit, node.compare(ComparePredicate::not_equal, input, input));
  Value own = node.create<IotaOp>(ArrayRef<int64_t>(shape), axis,
                                  Type(node.getBuilder().getI64Type()));
  Value none = node.splatLike(own, last ? -1 : shape[axis]);
  return node.reduce(last ? ReduceKind::max : ReduceKind::min,
                     node.create<SelectOp>(hit, own, none), axis);
}

template <bool greatest>
static void importArgExtremum(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireArithmetic(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis = node.normalizeAxis(node.getInt("axis", 0), shape.size());
  if (node.failed())
    return;
  if (shape[axis] == 0) {
    node.invalid("axis " + Twine(axis) + " has no elements");
    return;
  }
  Value index = findExtremum(node, input, axis, greatest,
                             node.getInt("select_last_index", 0) != 0);
  shape[axis] = 1;
  if (node.getInt("keepdims", 1) != 0)
    index = node.reshape(index, shape);
  node.setOutput(0, index);
}

//===----------------------------------------------------------------------===//
// One element of many
//===----------------------------------------------------------------------===//

Value isAtIndex(Node &node, Value indices, ArrayRef<int64_t> shape,
                int64_t axis) {
  Value own =
      node.create<IotaOp>(shape, axis, Type(node.getBuilder().getI64Type()));
  return node.compare(ComparePredicate::equal, own,
                      repeatAlong(node, indices, shape, axis));
}

static void importHardmax(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input)), whole(shape);
  bool isFlat = node.getOpset() < 13;
  int64_t axis =
      node.normalizeAxis(node.getInt("axis", isFlat ? 1 : -1), shape.size());
  if (node.failed())
    return;
  if (isFlat) {
    ArrayRef<int64_t> sizes(whole);
    shape = {ShapedType::getNumElements(sizes.take_front(axis)),
             ShapedType::getNumElements(sizes.drop_front(axis))};
    input = node.reshape(input, shape);
    axis = 1;
  }
  if (!input)
    return;
  Value first = findExtremum(node, input, axis, /*greatest=*/true, false);
  Value hit = isAtIndex(node, first, shape, axis);
  node.setOutput(0, node.reshape(node.cast(hit, getElementType(input)), whole));
}

static void importOneHot(Node &node) {
  constexpr int64_t kMostDepth = (int64_t(1) << 31) - 1;
  Value indices = node.getInput(0), values = node.getInput(2);
  std::optional<double> depth = node.getNumber(1, "depth");
  if (!indices || !values || !depth || node.failed())
    return;
  if (!(*depth >= 1 && *depth <= static_cast<double>(kMostDepth)) ||
      getShape(values) != ArrayRef<int64_t>({2})) {
    node.invalid("depth must lie in [1, " + Twine(kMostDepth) +
                 "], and values be [off, on]");
    return;
  }
  SmallVector<int64_t> shape(getShape(indices));
  int64_t axis = node.normalizeAxis(node.getInt("axis", -1), shape.size() + 1);
  if (node.failed())
    return;
  shape.insert(shape.begin() + axis, static_cast<int64_t>(*depth));
  Value hit =
      isAtIndex(node, wrapIndices(node, indices, shape[axis]), shape, axis);
  auto pick = [&](int64_t which) {
    SmallVector<int64_t> begin = {which}, one = {1};
    Value value =
        node.create<SliceOp>(values, ArrayRef<int64_t>(begin),
                             ArrayRef<int64_t>(one), ArrayRef<int64_t>(one));
    return node.broadcast(node.reshape(value, {}), shape);
  };
  node.setOutput(0, node.create<SelectOp>(hit, pick(1), pick(0)));
}

llvm::ArrayRef<OpHandler> getIndexingHandlers() {
  static const OpHandler handlers[] = {
      {"ArgMax", 1, importArgExtremum<true>},
      {"ArgMin", 1, importArgExtremum<false>},
      {"GatherElements", 11, importGatherElements, 0, 2},
      {"GatherND", 11, importGatherND, 0, 2},
      {"Hardmax", 1, importHardmax},
      {"OneHot", 9, importOneHot, 0b110, 3},
      {"Scatter", 9, importScatterElements, 0, 3},
      {"ScatterElements", 11, importScatterElements, 0, 3},
      {"ScatterND", 11, importScatterND, 0, 3},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
