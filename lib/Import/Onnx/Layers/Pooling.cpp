//===- Pooling.cpp - Maxima and means over windows ------------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"
#include "Layers/Window.h"
#include "Movement/Indexing.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace mlir::hfta::onnx_import {

/// Reads a window over the spatial axes of `input`. Returns nothing after an
/// error.
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

/// Returns the spatial sizes of a MaxPool's input whose result has spatial
/// `sizes`. Returns an empty list after an error.
static SmallVector<int64_t> invertPool(Node &node, ArrayRef<int64_t> sizes) {
  std::optional<Window> window = readWindow(node, sizes, {});
  if (!window)
    return {};
  SmallVector<int64_t> inverse;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t whole = (size - 1) * window->strides[axis] + window->kernel[axis] -
                    window->padding[axis] -
                    window->padding[sizes.size() + axis];
    if (whole < 1) {
      node.invalid("pads " + formatShape(window->padding) +
                   " leave no element");
      return {};
    }
    inverse.push_back(whole);
  }
  return inverse;
}

/// Adds zeros at the high end of each axis, so that the value has this shape.
static Value padAtEnds(Node &node, Value value, ArrayRef<int64_t> shape) {
  if (!value)
    return Value();
  ArrayRef<int64_t> given = getShape(value);
  SmallVector<int64_t> none(given.size(), 0), high;
  bool fits = shape.size() == given.size();
  for (auto [from, to] : llvm::zip(given, shape)) {
    fits &= to >= from && to <= kGreatestWindow;
    high.push_back(fits ? to - from : 0);
  }
  if (!fits)
    return node.invalid("result of shape " + formatShape(given) +
                        " does not fit into " + formatShape(shape));
  TypedAttr zero = node.getBuilder().getFloatAttr(getElementType(value), 0);
  return node.create<PadOp>(value, ArrayRef<int64_t>(none),
                            ArrayRef<int64_t>(high), ArrayRef<int64_t>(none),
                            zero);
}

/// Imports MaxUnpool: each element moves to the place in the flattened result
/// that its index gives, and all other elements are zero. If the node has an
/// output shape, the result is padded with zeros at the high ends.
static void importMaxUnpool(Node &node) {
  Value input = node.getInput(0), indices = node.getInput(1);
  if (!node.requireFloat(input) || !requireIndices(node, indices))
    return;
  ArrayRef<int64_t> given = getShape(input);
  if (given.size() < 3 || getShape(indices) != given) {
    node.invalid("input of shape " + formatShape(given) +
                 " and indices of shape " + formatShape(getShape(indices)) +
                 " are no pooled images");
    return;
  }
  SmallVector<int64_t> sizes = invertPool(node, given.drop_front(2));
  if (sizes.empty())
    return;
  SmallVector<int64_t> shape(given.take_front(2));
  llvm::append_range(shape, sizes);
  int64_t count = ShapedType::getNumElements(given);
  Value flat = node.create<ScatterAddOp>(node.reshape(input, {count}),
                                         node.reshape(indices, {count}), 0,
                                         multiplySizes(shape));
  Value result = node.reshape(flat, shape);
  if (node.hasInput(2))
    if (std::optional<SmallVector<int64_t>> whole =
            node.getIntegers(2, "output shape"))
      result = padAtEnds(node, result, *whole);
  node.setOutput(0, result);
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
// Norms
//===----------------------------------------------------------------------===//

/// Returns the norm's p; nothing after an error.
static std::optional<double> readNorm(Node &node) {
  // Attribute 'p' was a float in the first operator set.
  double p = node.getOpset() < 2 ? node.getFloat("p", 2)
                                 : static_cast<double>(node.getInt("p", 2));
  if (node.failed())
    return std::nullopt;
  if (!(p >= 1) || std::isinf(p)) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", p);
    node.invalid("attribute 'p' must be a number of at least 1, got " + text);
    return std::nullopt;
  }
  return p;
}

/// Returns |x|^p.
static Value raiseForNorm(Node &node, Value x, double p) {
  if (p == 2)
    return node.mul(x, x);
  Value size = node.create<AbsOp>(x);
  return p == 1 ? size : node.create<PowOp>(size, node.splatLike(size, p));
}

/// Returns sums^(1/p), whose gradient is zero where `sums` is zero.
static Value takeRootOfNorm(Node &node, Value sums, double p) {
  if (p == 1)
    return sums;
  if (p == 2)
    return markNorm(node.create<SqrtOp>(sums));
  Value zero = node.splatLike(sums, 0);
  Value isZero = node.compare(ComparePredicate::equal, sums, zero);
  Value bounded = node.create<SelectOp>(isZero, node.splatLike(sums, 1), sums);
  Value root = node.create<PowOp>(bounded, node.splatLike(sums, 1 / p));
  return node.create<SelectOp>(isZero, zero, root);
}

/// Imports the p-norms of windows. The sum over a window is computed as its
/// mean times the number of all of its positions, including those outside of
/// the input.
static void importLpPool(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  std::optional<Window> window = readPoolWindow(node, input);
  std::optional<double> p = readNorm(node);
  if (!window || !p)
    return;
  SmallVector<int64_t> noCeilPadding(window->kernel.size(), 0);
  Value mean = node.create<AveragePoolOp>(
      raiseForNorm(node, input, *p), ArrayRef<int64_t>(window->kernel),
      ArrayRef<int64_t>(window->strides), ArrayRef<int64_t>(window->dilations),
      ArrayRef<int64_t>(window->padding), ArrayRef<int64_t>(noCeilPadding),
      /*includesPadding=*/true);
  int64_t count = ShapedType::getNumElements(window->kernel);
  Value sum = node.mul(mean, node.splatLike(mean, count));
  node.setOutput(0, takeRootOfNorm(node, sum, *p));
}

//===----------------------------------------------------------------------===//
// Pooling of whole planes
//===----------------------------------------------------------------------===//

/// Reduces the spatial axes, which keep size 1.
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

static void importGlobalLpPool(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  std::optional<double> p = readNorm(node);
  if (!p)
    return;
  Value sum = reducePlane(node, raiseForNorm(node, input, *p), ReduceKind::sum);
  node.setOutput(0, takeRootOfNorm(node, sum, *p));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getPoolingHandlers() {
  static const OpHandler handlers[] = {
      {"AveragePool", 1, importAveragePool},
      {"GlobalAveragePool", 1, importGlobalAveragePool},
      {"GlobalLpPool", 1, importGlobalLpPool},
      {"GlobalMaxPool", 1, importGlobalMaxPool},
      {"LpPool", 1, importLpPool},
      {"MaxPool", 1, importMaxPool},
      {"MaxUnpool", 9, importMaxUnpool, 0b100, 3},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
