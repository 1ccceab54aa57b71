//===- Pooling.cpp - Maxima and means over windows ------------------------===//

#include "Layers/Window.h"

namespace mlir::hfta::onnx_import {

/// Reads a window that fits `input`; returns nothing after an error.
static std::optional<Window> readPoolWindow(Node &node, Value input) {
  if (!input)
    return std::nullopt;
  int64_t rank = getType(input).getRank();
  if (rank < 3) {
    node.invalid("input of shape " + formatShape(getShape(input)) +
                 " has no spatial axis");
    return std::nullopt;
  }
  if (rank > 5) {
    node.unsupported(std::to_string(rank - 2) +
                     " spatial dimensions are not supported (at most 3)");
    return std::nullopt;
  }
  std::optional<Window> window =
      readWindow(node, getShape(input).drop_front(2), {});
  if (!window)
    return std::nullopt;
  for (size_t axis = 0; axis < window->kernel.size(); ++axis) {
    int64_t extent = (window->kernel[axis] - 1) * window->dilations[axis] + 1;
    int64_t high = window->padding[window->kernel.size() + axis] -
                   window->ceilPadding[axis];
    if (window->padding[axis] >= extent || high >= extent) {
      node.invalid("pads " + formatShape(window->padding) +
                   " leave windows without an element");
      return std::nullopt;
    }
  }
  return window;
}

/// Converts flat positions in a spatial plane into flat positions in the whole
/// tensor, with spatial axes in reverse order if `columnMajor`.
static Value makeFlatIndices(Node &node, Value positions,
                             ArrayRef<int64_t> inputShape, bool columnMajor) {
  Type type = node.getBuilder().getI64Type();
  positions = node.cast(positions, type);
  if (!positions)
    return Value();
  ArrayRef<int64_t> shape = getShape(positions);
  ArrayRef<int64_t> sizes = inputShape.drop_front(2);
  int64_t plane = ShapedType::getNumElements(sizes);
  Value flat = positions;
  if (columnMajor && sizes.size() > 1) {
    // Split off coordinates, beginning with the last axis, whose stride is the
    // largest.
    Value rest = positions;
    int64_t stride = plane;
    flat = Value();
    for (int64_t size : llvm::reverse(sizes)) {
      stride /= std::max<int64_t>(size, 1);
      Value quotient = node.div(rest, node.splat(shape, type, size));
      Value coordinate =
          node.sub(rest, node.mul(quotient, node.splat(shape, type, size)));
      Value term = node.mul(coordinate, node.splat(shape, type, stride));
      flat = flat ? node.add(flat, term) : term;
      rest = quotient;
    }
  }
  for (auto [axis, stride] :
       {std::make_pair(0, plane * inputShape[1]), std::make_pair(1, plane)}) {
    Value number = node.create<IotaOp>(shape, axis, type);
    flat = node.add(flat, node.mul(number, node.splat(shape, type, stride)));
  }
  return flat;
}

static void importMaxPool(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireArithmetic(input))
    return;
  std::optional<Window> window = readPoolWindow(node, input);
  if (!window)
    return;
  SmallVector<Value> results = node.createMany<MaxPoolOp>(
      2, input, ArrayRef<int64_t>(window->kernel),
      ArrayRef<int64_t>(window->strides), ArrayRef<int64_t>(window->dilations),
      ArrayRef<int64_t>(window->padding));
  if (results.empty())
    return;
  node.setOutput(0, results[0]);
  if (node.isOutputUsed(1))
    node.setOutput(1, makeFlatIndices(node, results[1], getShape(input),
                                      node.getInt("storage_order", 0) != 0));
}

static void importAveragePool(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  std::optional<Window> window = readPoolWindow(node, input);
  if (!window)
    return;
  bool includesPadding = node.getInt("count_include_pad", 0) != 0;
  node.setOutput(
      0, node.create<AveragePoolOp>(input, ArrayRef<int64_t>(window->kernel),
                                    ArrayRef<int64_t>(window->strides),
                                    ArrayRef<int64_t>(window->dilations),
                                    ArrayRef<int64_t>(window->padding),
                                    ArrayRef<int64_t>(window->ceilPadding),
                                    includesPadding));
}

//===----------------------------------------------------------------------===//
// Whole planes
//===----------------------------------------------------------------------===//

/// Reduces the spatial axes, which stay with size 1.
static Value reducePlane(Node &node, Value input, ReduceKind kind) {
  int64_t rank = getType(input).getRank();
  if (rank < 3)
    return node.invalid("input of shape " + formatShape(getShape(input)) +
                        " has no spatial axis");
  Value reduced =
      node.reduce(kind, input, llvm::to_vector(llvm::seq<int64_t>(2, rank)));
  SmallVector<int64_t> shape(getShape(input).take_front(2));
  shape.resize(rank, 1);
  return node.reshape(reduced, shape);
}

static void importGlobalAveragePool(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  Value sum = reducePlane(node, input, ReduceKind::sum);
  if (!sum)
    return;
  int64_t plane = ShapedType::getNumElements(getShape(input).drop_front(2));
  node.setOutput(0, node.div(sum, node.splatLike(sum, plane)));
}

static void importGlobalMaxPool(Node &node) {
  Value input = node.getInput(0);
  if (node.requireFloat(input))
    node.setOutput(0, reducePlane(node, input, ReduceKind::max));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getPoolingHandlers() {
  static const OpHandler handlers[] = {
      {"AveragePool", 1, importAveragePool},
      {"GlobalAveragePool", 1, importGlobalAveragePool},
      {"GlobalMaxPool", 1, importGlobalMaxPool},
      {"MaxPool", 1, importMaxPool},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
