//===- Movement.cpp - Ops that choose and arrange elements ----------------===//

#include "Movement/Movement.h"

namespace mlir::hfta::onnx_import {

static void importTranspose(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  int64_t rank = getType(input).getRank();
  SmallVector<int64_t> reversed;
  for (int64_t axis = rank; axis-- > 0;)
    reversed.push_back(axis);
  SmallVector<int64_t> permutation = node.getInts("perm").value_or(reversed);
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) {
    node.invalid("attribute 'perm' = " + formatShape(permutation) +
                 " is no permutation of " + Twine(rank) + " axes");
    return;
  }
  node.setOutput(0, node.transpose(input, permutation));
}

static void importConcat(Node &node) {
  SmallVector<Value> inputs = node.getInputs();
  if (node.failed() || llvm::is_contained(inputs, Value()))
    return;
  if (!node.hasAttribute("axis")) {
    node.invalid("attribute 'axis' is missing");
    return;
  }
  int64_t axis =
      node.normalizeAxis(node.getInt("axis", 0), getType(inputs[0]).getRank());
  node.setOutput(0, node.create<ConcatOp>(inputs, axis));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Value sliceAxis(Node &node, Value input, int64_t axis, int64_t offset,
                int64_t size) {
  if (!input)
    return Value();
  SmallVector<int64_t> sizes(getShape(input));
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  if (offset == 0 && size == sizes[axis])
    return input;
  offsets[axis] = offset;
  sizes[axis] = size;
  return node.create<SliceOp>(input, ArrayRef<int64_t>(offsets),
                              ArrayRef<int64_t>(sizes),
                              ArrayRef<int64_t>(strides));
}

namespace {
/// The bounds of a Slice node. Empty lists of axes or steps stand for defaults.
struct SliceBounds {
  SmallVector<int64_t> starts, ends, axes, steps;
};
} // namespace

/// Fills in defaults and checks the lists; returns false after an error.
static bool completeBounds(Node &node, int64_t rank, SliceBounds &bounds) {
  size_t count = bounds.starts.size();
  if (bounds.axes.empty())
    bounds.axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (bounds.steps.empty())
    bounds.steps.assign(count, 1);
  if (bounds.ends.size() != count || bounds.axes.size() != count ||
      bounds.steps.size() != count) {
    node.invalid("expected as many ends, axes and steps as starts, " +
                 Twine(count) + ", got " + Twine(bounds.ends.size()) + ", " +
                 Twine(bounds.axes.size()) + " and " +
                 Twine(bounds.steps.size()));
    return false;
  }
  if (llvm::is_contained(bounds.steps, 0)) {
    node.invalid("steps " + formatShape(bounds.steps) + " must not be 0");
    return false;
  }
  node.normalizeAxes(bounds.axes, rank);
  for (int64_t &axis : bounds.axes)
    axis = node.normalizeAxis(axis, rank);
  return !node.failed();
}

static void sliceBetween(Node &node, Value input, SliceBounds bounds) {
  int64_t rank = getType(input).getRank();
  if (!completeBounds(node, rank, bounds))
    return;
  SmallVector<int64_t> sizes(getShape(input));
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  bool isWhole = true;
  for (size_t index = 0; index < bounds.axes.size(); ++index) {
    int64_t axis = bounds.axes[index], step = bounds.steps[index];
    int64_t size = sizes[axis];
    int64_t least = step > 0 ? 0 : -1, greatest = step > 0 ? size : size - 1;
    auto clamp = [&](int64_t bound) {
      bound = bound < 0 ? bound + size : bound;
      return std::max(least, std::min(bound, greatest));
    };
    int64_t start = clamp(bounds.starts[index]);
    int64_t end = clamp(bounds.ends[index]);
    // A step that is larger than the axis takes one element, as does a step of
    // the axis' size. Clamping avoids overflows.
    step = std::clamp(step, -std::max<int64_t>(size, 1),
                      std::max<int64_t>(size, 1));
    int64_t distance = step > 0 ? end - start : start - end;
    int64_t width = step > 0 ? step : -step;
    offsets[axis] = distance > 0 ? start : 0;
    sizes[axis] = distance > 0 ? (distance + width - 1) / width : 0;
    strides[axis] = step;
    isWhole &= sizes[axis] == size && step == 1;
  }
  node.setOutput(0, isWhole ? input
                            : node.create<SliceOp>(input,
                                                   ArrayRef<int64_t>(offsets),
                                                   ArrayRef<int64_t>(sizes),
                                                   ArrayRef<int64_t>(strides)));
}

static void importSliceAttributes(Node &node) {
  Value input = node.getInput(0);
  SliceBounds bounds;
  bounds.starts = node.getInts("starts").value_or(SmallVector<int64_t>());
  bounds.ends = node.getInts("ends").value_or(SmallVector<int64_t>());
  bounds.axes = node.getInts("axes").value_or(SmallVector<int64_t>());
  if (input && !node.failed())
    sliceBetween(node, input, bounds);
}

static void importSlice(Node &node) {
  Value input = node.getInput(0);
  if (!node.hasInput(1) || !node.hasInput(2)) {
    node.invalid("starts or ends are missing");
    return;
  }
  SliceBounds bounds;
  bounds.starts =
      node.getIntegers(1, "starts").value_or(SmallVector<int64_t>());
  bounds.ends = node.getIntegers(2, "ends").value_or(SmallVector<int64_t>());
  bounds.axes = node.getIntegers(3, "axes").value_or(SmallVector<int64_t>());
  bounds.steps = node.getIntegers(4, "steps").value_or(SmallVector<int64_t>());
  if (input && !node.failed())
    sliceBetween(node, input, bounds);
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Returns the sizes of equal parts of an axis of `size`, of which the last may
/// be smaller, for a node that doesn't give sizes. Empty after an error.
static SmallVector<int64_t> splitEvenly(Node &node, int64_t size) {
  int64_t parts = node.getInt("num_outputs", node.getNumOutputs());
  SmallVector<int64_t> sizes;
  if (parts < 1 || parts != static_cast<int64_t>(node.getNumOutputs())) {
    node.invalid("num_outputs does not fit " + Twine(node.getNumOutputs()) +
                 " outputs");
    return sizes;
  }
  if (size % parts != 0 && node.getOpset() < 18) {
    node.invalid("cannot split " + Twine(size) + " elements into " +
                 Twine(parts) + " equal parts");
    return sizes;
  }
  int64_t part = (size + parts - 1) / parts;
  for (int64_t begin = 0; begin < parts * part; begin += part)
    sizes.push_back(std::clamp<int64_t>(size - begin, 0, part));
  sizes.resize(parts, 0);
  return sizes;
}

template <bool sizesAsOperand>
static void importSplit(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  int64_t axis =
      node.normalizeAxis(node.getInt("axis", 0), getType(input).getRank());
  if (node.failed())
    return;
  int64_t size = getShape(input)[axis];
  std::optional<SmallVector<int64_t>> sizes =
      sizesAsOperand ? node.getIntegers(1, "split") : node.getInts("split");
  if (!node.failed() && (!sizes || sizes->empty()))
    sizes = splitEvenly(node, size);
  if (node.failed())
    return;
  int64_t rest = size;
  for (int64_t part : *sizes) {
    if (part < 0 || part > rest)
      rest = -1;
    if (rest < 0)
      break;
    rest -= part;
  }
  if (rest != 0 || sizes->size() != node.getNumOutputs()) {
    node.invalid("split " + formatShape(*sizes) + " does not fit " +
                 Twine(node.getNumOutputs()) + " outputs of " + Twine(size) +
                 " elements");
    return;
  }
  int64_t offset = 0;
  for (auto [index, part] : llvm::enumerate(*sizes)) {
    node.setOutput(index, sliceAxis(node, input, axis, offset, part));
    offset += part;
  }
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

static void importGather(Node &node) {
  Value input = node.getInput(0), indices = node.getInput(1);
  if (!input || !indices)
    return;
  int64_t axis =
      node.normalizeAxis(node.getInt("axis", 0), getType(input).getRank());
  if (node.failed())
    return;
  Type indexType = getElementType(indices);
  if (!indexType.isInteger(32) && !indexType.isInteger(64)) {
    node.invalid("indices must be int32 or int64");
    return;
  }
  int64_t size = getShape(input)[axis];
  std::optional<DenseElementsAttr> constant = getConstantValue(indices);
  if (constant)
    for (const APInt &index : constant->getValues<APInt>())
      if (index.getSExtValue() < -size || index.getSExtValue() >= size) {
        node.invalid("index " + Twine(index.getSExtValue()) +
                     " is outside of axis " + Twine(axis) + " of " +
                     formatShape(getShape(input)));
        return;
      }
  if (!constant || constant->getNumElements() != 1) {
    node.setOutput(0, node.create<GatherOp>(input, indices, axis));
    return;
  }
  // A single index that is known at compile time selects a slice.
  int64_t index = (*constant->value_begin<APInt>()).getSExtValue();
  SmallVector<int64_t> shape(getShape(input).take_front(axis));
  llvm::append_range(shape, getShape(indices));
  llvm::append_range(shape, getShape(input).drop_front(axis + 1));
  Value slice =
      sliceAxis(node, input, axis, index < 0 ? index + size : index, 1);
  node.setOutput(0, node.reshape(slice, shape));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of elements to add at both ends of each axis, or to remove if
/// they are negative.
struct Padding {
  SmallVector<int64_t> low, high;
};
} // namespace

/// Removes elements where `padding` is negative, and sets those numbers to 0.
static Value crop(Node &node, Value input, Padding &padding) {
  for (size_t axis = 0; axis < padding.low.size() && input; ++axis) {
    int64_t low = std::max<int64_t>(-padding.low[axis], 0);
    int64_t high = std::max<int64_t>(-padding.high[axis], 0);
    int64_t size = getShape(input)[axis];
    if (low > size || high > size - low)
      return node.invalid("padding takes more than axis " + Twine(axis) +
                          " of " + formatShape(getShape(input)) + " has");
    input = sliceAxis(node, input, axis, low, size - low - high);
    padding.low[axis] = std::max<int64_t>(padding.low[axis], 0);
    padding.high[axis] = std::max<int64_t>(padding.high[axis], 0);
  }
  return input;
}

/// Returns the index of the element, on an axis of `size`, that padding puts at
/// `position`, which may be outside of the axis.
static int64_t mirror(StringRef mode, int64_t position, int64_t size) {
  if (mode == "edge" || size == 1)
    return std::clamp<int64_t>(position, 0, size - 1);
  if (mode == "wrap")
    return ((position % size) + size) % size;
  int64_t period = 2 * (size - 1);
  int64_t folded = ((position % period) + period) % period;
  return folded < size ? folded : period - folded;
}

static Value padByIndex(Node &node, Value input, StringRef mode,
                        const Padding &padding) {
  constexpr int64_t kMostIndices = 1 << 20;
  for (size_t axis = 0; axis < padding.low.size() && input; ++axis) {
    int64_t size = getShape(input)[axis];
    int64_t low = padding.low[axis], high = padding.high[axis];
    if (low == 0 && high == 0)
      continue;
    if (size == 0 || low > kMostIndices || high > kMostIndices ||
        size > kMostIndices || !node.getModel().takeElements(low + size + high))
      return node.invalid("cannot pad axis " + Twine(axis) + " of " +
                          formatShape(getShape(input)));
    SmallVector<int64_t> indices;
    for (int64_t position = -low; position < size + high; ++position)
      indices.push_back(mirror(mode, position, size));
    input = node.create<GatherOp>(input, node.integers(indices), axis);
  }
  return input;
}

/// Returns the padding value as an attribute of the input's element type.
static TypedAttr getPadValue(Node &node, Type type, double value) {
  if (isa<FloatType>(type))
    return node.getBuilder().getFloatAttr(type, value);
  if (type.isSignlessInteger())
    return node.getBuilder().getIntegerAttr(type, toInteger(value));
  node.unsupported("element type is not supported");
  return TypedAttr();
}

/// Pads the given axes (all by default).
static void padAxes(Node &node, ArrayRef<int64_t> pads,
                    std::optional<SmallVector<int64_t>> axes, double value) {
  Value input = node.getInput(0);
  if (!input || node.failed())
    return;
  int64_t rank = getType(input).getRank();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  node.normalizeAxes(*axes, rank);
  bool good =
      pads.size() == 2 * axes->size() && llvm::all_of(pads, [](int64_t pad) {
        return pad > -(int64_t(1) << 40) && pad < (int64_t(1) << 40);
      });
  if (!good)
    node.invalid("pads " + formatShape(pads) + " do not fit " +
                 Twine(axes->size()) + " axes");
  if (node.failed())
    return;
  Padding padding = {SmallVector<int64_t>(rank, 0),
                     SmallVector<int64_t>(rank, 0)};
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    int64_t at = node.normalizeAxis(axis, rank);
    padding.low[at] = pads[index];
    padding.high[at] = pads[axes->size() + index];
  }
  std::string mode = node.getString("mode", "constant");
  input = crop(node, input, padding);
  if (!input)
    return;
  if (mode == "edge" || mode == "reflect" || mode == "wrap") {
    node.setOutput(0, padByIndex(node, input, mode, padding));
    return;
  }
  if (mode != "constant") {
    node.invalid("attribute 'mode' = '" + mode + "' is unknown");
    return;
  }
  TypedAttr fill = getPadValue(node, getElementType(input), value);
  SmallVector<int64_t> interior(rank, 0);
  if (fill)
    node.setOutput(0, node.create<PadOp>(input, ArrayRef<int64_t>(padding.low),
                                         ArrayRef<int64_t>(padding.high),
                                         ArrayRef<int64_t>(interior), fill));
}

static void importPadAttributes(Node &node) {
  SmallVector<int64_t> pads =
      node.getInts("pads").value_or(SmallVector<int64_t>());
  padAxes(node, pads, std::nullopt, node.getFloat("value", 0));
}

static void importPad(Node &node) {
  SmallVector<int64_t> pads =
      node.getIntegers(1, "pads").value_or(SmallVector<int64_t>());
  padAxes(node, pads, node.getIntegers(3, "axes"),
          node.getNumber(2, "padding value").value_or(0));
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

/// Reads attribute 'blocksize' for a 4-D input; returns 0 after an error.
static int64_t readBlockSize(Node &node, Value input) {
  int64_t block = node.getInt("blocksize", 0);
  if (input && !node.failed() &&
      (block < 1 || block > (1 << 20) || getType(input).getRank() != 4))
    node.invalid("blocksize " + Twine(block) + " does not fit an input of " +
                 formatShape(getShape(input)));
  return input && !node.failed() ? block : 0;
}

/// Returns whether attribute 'mode' is CRD, in which the channel is a slower
/// axis than the position in a block. Reports unknown modes.
static bool readColumnsFirst(Node &node) {
  std::string mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    node.invalid("attribute 'mode' = '" + mode + "' is unknown");
  return mode == "CRD";
}

static void importDepthToSpace(Node &node) {
  Value input = node.getInput(0);
  bool columnsFirst = readColumnsFirst(node);
  int64_t b = readBlockSize(node, input);
  if (b == 0)
    return;
  ArrayRef<int64_t> shape = getShape(input);
  int64_t n = shape[0], c = shape[1] / (b * b), h = shape[2], w = shape[3];
  if (c * b * b != shape[1]) {
    node.invalid("blocksize " + Twine(b) + " does not divide " +
                 Twine(shape[1]) + " channels");
    return;
  }
  Value split = columnsFirst ? node.reshape(input, {n, c, b, b, h, w})
                             : node.reshape(input, {n, b, b, c, h, w});
  Value moved = columnsFirst ? node.transpose(split, {0, 1, 4, 2, 5, 3})
                             : node.transpose(split, {0, 3, 4, 1, 5, 2});
  node.setOutput(0, node.reshape(moved, {n, c, h * b, w * b}));
}

static void importSpaceToDepth(Node &node) {
  Value input = node.getInput(0);
  bool columnsFirst = readColumnsFirst(node);
  int64_t b = readBlockSize(node, input);
  if (b == 0)
    return;
  ArrayRef<int64_t> shape = getShape(input);
  int64_t n = shape[0], c = shape[1], h = shape[2] / b, w = shape[3] / b;
  if (h * b != shape[2] || w * b != shape[3]) {
    node.invalid("blocksize " + Twine(b) + " does not divide " +
                 formatShape(shape));
    return;
  }
  Value split = node.reshape(input, {n, c, h, b, w, b});
  Value moved = columnsFirst ? node.transpose(split, {0, 1, 3, 5, 2, 4})
                             : node.transpose(split, {0, 3, 5, 1, 2, 4});
  node.setOutput(0, node.reshape(moved, {n, c * b * b, h, w}));
}

/// Keeps the upper or lower triangle of the last two axes.
static void importTrilu(Node &node) {
  Value input = node.getInput(0);
  int64_t diagonal = toInteger(node.getNumber(1, "diagonal").value_or(0));
  if (!input || node.failed())
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t rank = shape.size();
  if (rank < 2) {
    node.invalid("input of shape " + formatShape(shape) + " is no matrix");
    return;
  }
  bool upper = node.getInt("upper", 1) != 0;
  Type type = node.getBuilder().getI64Type();
  ArrayRef<int64_t> matrix = ArrayRef<int64_t>(shape).take_back(2);
  // All diagonals beyond the corners select the same elements, but adding their
  // numbers to an index could overflow.
  int64_t corner = matrix[0] + matrix[1];
  diagonal = std::clamp(diagonal, -corner, corner);
  Value row = node.create<IotaOp>(matrix, 0, type);
  Value column = node.create<IotaOp>(matrix, 1, type);
  Value edge = node.add(row, node.splatLike(row, diagonal));
  Value keeps = node.compare(upper ? ComparePredicate::greater_equal
                                   : ComparePredicate::less_equal,
                             column, edge);
  node.setOutput(0, node.create<SelectOp>(node.broadcast(keeps, shape), input,
                                          node.splatLike(input, 0)));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getMovementHandlers() {
  static const OpHandler handlers[] = {
      {"Concat", 4, importConcat, 0, kAnyNumber},
      {"DepthToSpace", 1, importDepthToSpace},
      {"Gather", 1, importGather, 0, 2},
      {"Pad", 2, importPadAttributes},
      {"Pad", 11, importPad, 0b1110, 4},
      {"Slice", 1, importSliceAttributes},
      {"Slice", 10, importSlice, 0b11110, 5},
      {"SpaceToDepth", 1, importSpaceToDepth},
      {"Split", 2, importSplit<false>},
      {"Split", 13, importSplit<true>, 0b10, 2},
      {"Transpose", 1, importTranspose},
      {"Trilu", 14, importTrilu, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
