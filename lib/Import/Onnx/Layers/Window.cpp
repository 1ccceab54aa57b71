//===- Window.cpp - Sliding windows of convolution and pooling ------------===//

#include "Layers/Window.h"

namespace mlir::hfta::onnx_import {

/// Reads a list attribute with `count` entries between `least` and
/// kGreatestWindow.
static bool readList(Node &node, StringRef name, size_t count, int64_t least,
                     int64_t fallback, SmallVector<int64_t> &list) {
  list = node.getInts(name).value_or(SmallVector<int64_t>(count, fallback));
  if (node.failed())
    return false;
  bool good = list.size() == count && llvm::all_of(list, [&](int64_t entry) {
                return entry >= least && entry <= kGreatestWindow;
              });
  if (!good)
    node.invalid("attribute '" + name + "' = " + formatShape(list) +
                 " does not fit " + Twine(count) + " entries from " +
                 Twine(least) + " to " + Twine(kGreatestWindow));
  return good;
}

static int64_t getExtent(const Window &window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

/// Pads for auto_pad = SAME_UPPER or SAME_LOWER, such that a window has size /
/// stride positions, rounded up. If the padding is odd, its additional element
/// is at the high end with `upper`, otherwise at the low end.
static void padSame(Window &window, ArrayRef<int64_t> sizes, bool upper) {
  size_t rank = sizes.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t stride = window.strides[axis];
    int64_t positions = (sizes[axis] + stride - 1) / stride;
    int64_t total = std::max<int64_t>(
        (positions - 1) * stride + getExtent(window, axis) - sizes[axis], 0);
    window.padding[axis] = upper ? total / 2 : total - total / 2;
    window.padding[rank + axis] = total - window.padding[axis];
  }
}

/// Rounds the number of positions up by padding the high ends, unless the last
/// window would begin after the input.
static void padCeil(Window &window, ArrayRef<int64_t> sizes) {
  size_t rank = sizes.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t stride = window.strides[axis], low = window.padding[axis];
    int64_t &high = window.padding[rank + axis];
    int64_t room = sizes[axis] + low + high - getExtent(window, axis);
    if (room < 0)
      continue;
    int64_t positions = (room + stride - 1) / stride + 1;
    if ((positions - 1) * stride >= sizes[axis] + low)
      --positions;
    int64_t missing = (positions - 1) * stride - room;
    if (missing > 0) {
      window.ceilPadding[axis] = missing;
      high += missing;
    }
  }
}

std::optional<Window> readWindow(Node &node, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> kernel, bool transposed) {
  size_t rank = sizes.size();
  Window window;
  if (kernel.empty() && !node.hasAttribute("kernel_shape")) {
    node.invalid("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  window.kernel = SmallVector<int64_t>(kernel);
  if (node.hasAttribute("kernel_shape") &&
      !readList(node, "kernel_shape", rank, 1, 1, window.kernel))
    return std::nullopt;
  if (!kernel.empty() && window.kernel != SmallVector<int64_t>(kernel)) {
    node.invalid("kernel_shape " + formatShape(window.kernel) +
                 " is not the weight's " + formatShape(kernel));
    return std::nullopt;
  }
  if (!readList(node, "strides", rank, 1, 1, window.strides) ||
      !readList(node, "dilations", rank, 1, 1, window.dilations) ||
      !readList(node, "pads", 2 * rank, 0, 0, window.padding))
    return std::nullopt;
  for (size_t axis = 0; axis < rank; ++axis)
    if (window.kernel[axis] < 1 || window.kernel[axis] > kGreatestWindow ||
        sizes[axis] > kGreatestWindow) {
      node.invalid("kernel " + formatShape(window.kernel) +
                   " does not fit an input of " + formatShape(sizes));
      return std::nullopt;
    }
  window.ceilPadding.assign(rank, 0);
  std::string padding = node.getString("auto_pad", "NOTSET");
  if (padding == "VALID")
    window.padding.assign(2 * rank, 0);
  else if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
    if (!transposed)
      padSame(window, sizes, padding == "SAME_UPPER");
  } else if (padding != "NOTSET" && !padding.empty())
    node.invalid("attribute 'auto_pad' = '" + padding + "' is unknown");
  if (node.getInt("ceil_mode", 0) != 0)
    padCeil(window, sizes);
  return node.failed() ? std::nullopt : std::optional<Window>(window);
}

} // namespace mlir::hfta::onnx_import
