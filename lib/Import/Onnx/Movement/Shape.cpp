//===- Shape.cpp - Ops that change or ask for a shape ---------------------===//

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Completes the shape of ONNX's Reshape: unless `allowZero`, a 0 becomes the
/// input's size at that axis, and one -1 becomes the size that is left. Returns
/// false after an error.
static bool completeShape(Node &node, ArrayRef<int64_t> input, bool allowZero,
                          SmallVectorImpl<int64_t> &shape) {
  std::optional<size_t> open;
  int64_t known = 1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero) {
      if (axis >= input.size()) {
        node.invalid("size 0 at axis " + Twine(axis) +
                     " has no axis of the input to copy");
        return false;
      }
      size = input[axis];
    }
    if (size < -1 || (size == -1 && open)) {
      node.invalid("shape " + formatShape(shape) + " is ill-formed");
      return false;
    }
    if (size == -1)
      open = axis;
    else if (llvm::MulOverflow(known, size, known)) {
      node.invalid("shape " + formatShape(shape) + " is too large");
      return false;
    }
  }
  if (!open)
    return true;
  int64_t elements = ShapedType::getNumElements(input);
  if (known == 0 || elements % known != 0) {
    node.invalid("cannot reshape " + formatShape(input) + " to " +
                 formatShape(shape));
    return false;
  }
  shape[*open] = elements / known;
  return true;
}

/// Replaces the batch size in a shape. A file that was exported for one batch
/// size may contain it in shapes. If the leading size is that batch size and
/// doesn't fit, or is followed by a -1, the import's own batch size replaces
/// it.
static void replaceBatch(Node &node, Value input,
                         SmallVectorImpl<int64_t> &shape) {
  ModelBuilder &model = node.getModel();
  std::optional<int64_t> exported = model.getReplacedBatch();
  ArrayRef<int64_t> sizes = getShape(input);
  if (!exported || shape.empty() || shape[0] != *exported ||
      !model.isBatched(input) || sizes.empty() || sizes[0] != *model.getBatch())
    return;
  bool isOpen = llvm::is_contained(shape, -1);
  std::optional<int64_t> count = countElements(shape);
  if (!isOpen && count && *count == getType(input).getNumElements())
    return;
  shape[0] = *model.getBatch();
}

static void importReshape(Node &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> target = node.getIntegers(1, "shape");
  if (!input || node.failed())
    return;
  if (!target) {
    node.invalid("operand 1 is missing");
    return;
  }
  SmallVector<int64_t> shape = *target;
  bool allowZero = node.getInt("allowzero", 0) != 0;
  replaceBatch(node, input, shape);
  if (!completeShape(node, getShape(input), allowZero, shape))
    return;
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count != getType(input).getNumElements()) {
    std::string hint;
    if (std::optional<int64_t> exported = node.getModel().getReplacedBatch())
      hint =
          "; the file was exported for batch size " + std::to_string(*exported);
    node.invalid("cannot reshape " + formatShape(getShape(input)) + " to " +
                 formatShape(shape) + hint);
    return;
  }
  node.setOutput(0, node.reshape(input, shape));
}

static void importFlatten(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  ArrayRef<int64_t> shape = getShape(input);
  int64_t rank = shape.size(), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank) {
    node.invalid("axis " + Twine(axis) + " is outside of a tensor of rank " +
                 Twine(rank));
    return;
  }
  if (axis < 0)
    axis += rank;
  node.setOutput(
      0, node.reshape(input,
                      {ShapedType::getNumElements(shape.take_front(axis)),
                       ShapedType::getNumElements(shape.drop_front(axis))}));
}

//===----------------------------------------------------------------------===//
// Axes of size 1
//===----------------------------------------------------------------------===//

template <bool axesAsOperand>
static void importSqueeze(Node &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> given =
      axesAsOperand ? node.getIntegers(1, "axes") : node.getInts("axes");
  if (!input || node.failed())
    return;
  ArrayRef<int64_t> shape = getShape(input);
  SmallVector<int64_t> axes;
  if (given)
    axes = node.normalizeAxes(*given, shape.size());
  SmallVector<int64_t> kept;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool drops = given ? llvm::is_contained(axes, static_cast<int64_t>(axis))
                       : size == 1;
    if (drops && size != 1) {
      node.invalid("cannot drop axis " + Twine(axis) + " of " +
                   formatShape(shape) + ", which has size " + Twine(size));
      return;
    }
    if (!drops)
      kept.push_back(size);
  }
  if (!node.failed())
    node.setOutput(0, node.reshape(input, kept));
}

template <bool axesAsOperand>
static void importUnsqueeze(Node &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> given =
      axesAsOperand ? node.getIntegers(1, "axes") : node.getInts("axes");
  if (!input || node.failed())
    return;
  if (!given) {
    node.invalid("axes are missing");
    return;
  }
  ArrayRef<int64_t> shape = getShape(input);
  SmallVector<int64_t> axes =
      node.normalizeAxes(*given, shape.size() + given->size());
  if (node.failed())
    return;
  SmallVector<int64_t> result(shape);
  for (int64_t axis : axes)
    result.insert(result.begin() + axis, 1);
  node.setOutput(0, node.reshape(input, result));
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

static void importExpand(Node &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> target = node.getIntegers(1, "shape");
  if (!input || !target)
    return;
  SmallVector<int64_t> shape(getShape(input));
  if (target->size() > shape.size())
    shape.insert(shape.begin(), target->size() - shape.size(), 1);
  size_t offset = shape.size() - target->size();
  for (auto [axis, size] : llvm::enumerate(*target)) {
    int64_t &common = shape[offset + axis];
    if (size < 0 || (common != 1 && size != 1 && common != size)) {
      node.invalid("cannot expand " + formatShape(getShape(input)) + " to " +
                   formatShape(*target));
      return;
    }
    common = common == 1 ? size : common;
  }
  if (!countElements(shape)) {
    node.invalid("shape " + formatShape(shape) + " is too large");
    return;
  }
  node.setOutput(0, node.broadcast(input, shape));
}

static void importTile(Node &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> repeats = node.getIntegers(1, "repeats");
  if (!input || !repeats)
    return;
  ArrayRef<int64_t> shape = getShape(input);
  if (repeats->size() != shape.size() ||
      llvm::any_of(*repeats, [](int64_t count) { return count < 0; })) {
    node.invalid("repeats " + formatShape(*repeats) + " do not fit " +
                 formatShape(shape));
    return;
  }
  // Broadcasts [a, b] to [r, a, s, b], whose axes are then joined in pairs.
  SmallVector<int64_t> wide, joined, dimensions;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    int64_t count = (*repeats)[axis];
    int64_t product = 0;
    if (llvm::MulOverflow(count, size, product)) {
      node.invalid("repeats " + formatShape(*repeats) + " are too large");
      return;
    }
    dimensions.push_back(wide.size() + 1);
    wide.append({count, size});
    joined.push_back(product);
  }
  if (!countElements(joined) || !countElements(wide)) {
    node.invalid("repeats " + formatShape(*repeats) + " are too large");
    return;
  }
  node.setOutput(
      0, node.reshape(node.broadcastAlong(input, wide, dimensions), joined));
}

//===----------------------------------------------------------------------===//
// Queries of shapes
//===----------------------------------------------------------------------===//

static void importShape(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  if (node.getModel().isBatched(input))
    node.getModel().followBatch();
  ArrayRef<int64_t> shape = getShape(input);
  int64_t rank = shape.size();
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = std::max(start, clamp(node.getInt("end", rank)));
  node.setOutput(0, node.integers(shape.slice(start, end - start)));
}

static void importSize(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  if (node.getModel().isBatched(input))
    node.getModel().followBatch();
  int64_t count = getType(input).getNumElements();
  node.setOutput(0, node.reshape(node.integers({count}), {}));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getShapeHandlers() {
  static const OpHandler handlers[] = {
      {"Expand", 8, importExpand, 0b10, 2},
      {"Flatten", 1, importFlatten},
      {"Reshape", 5, importReshape, 0b10, 2},
      {"Shape", 1, importShape},
      {"Size", 1, importSize},
      {"Squeeze", 1, importSqueeze<false>},
      {"Squeeze", 13, importSqueeze<true>, 0b10, 2},
      {"Tile", 6, importTile, 0b10, 2},
      {"Unsqueeze", 1, importUnsqueeze<false>},
      {"Unsqueeze", 13, importUnsqueeze<true>, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
