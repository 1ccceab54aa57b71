//===- Col2Im.cpp - Images of overlapping blocks --------------------------===//
//
// Each element of an image is the sum of the blocks' elements that lie at its
// place. Blocks lie on a grid, so they are added along one axis after the
// other, with indices along this axis alone.
//===----------------------------------------------------------------------===//

#include "Layers/Window.h"
#include "Reading/Registry.h"

namespace mlir::hfta::onnx_import {

/// Returns `count` divided by all of `divisors`, or nothing if there is a
/// remainder.
static std::optional<int64_t> divideByAll(int64_t count,
                                          ArrayRef<int64_t> divisors) {
  for (int64_t divisor : divisors) {
    if (count % divisor != 0)
      return std::nullopt;
    count /= divisor;
  }
  return count;
}

/// Returns the number of positions of a block along each axis; empty after an
/// error.
static SmallVector<int64_t> countPositions(Node &node, const Window &window,
                                           ArrayRef<int64_t> image) {
  SmallVector<int64_t> positions;
  size_t rank = image.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    int64_t room = image[axis] + window.padding[axis] +
                   window.padding[rank + axis] - extent;
    if (room < 0) {
      node.invalid("blocks " + formatShape(window.kernel) +
                   " do not fit an image of " + formatShape(image));
      return {};
    }
    positions.push_back(room / window.strides[axis] + 1);
  }
  return positions;
}

/// Merges two axes of `value`, `axis` (the elements of a block) and the next
/// one (the positions of a block), into one axis of the image with `size`
/// elements. Elements at the same place are added up.
static Value addBlocks(Node &node, Value value, const Window &window,
                       size_t number, int64_t axis, int64_t size) {
  if (!value)
    return Value();
  ArrayRef<int64_t> shape = getShape(value).slice(axis, 2);
  if (!node.getModel().takeElements(ShapedType::getNumElements(shape)))
    return node.unsupported("its places take more constants than a model may "
                            "have");
  SmallVector<int64_t> places;
  for (int64_t element = 0; element < shape[0]; ++element)
    for (int64_t position = 0; position < shape[1]; ++position) {
      int64_t place = position * window.strides[number] +
                      element * window.dilations[number] -
                      window.padding[number];
      // Elements in the padding get an index out of range, so that they are
      // dropped.
      places.push_back(place >= 0 && place < size ? place : size);
    }
  auto type = RankedTensorType::get(shape, node.getBuilder().getI64Type());
  Value indices = node.getModel().createConstant(
      DenseElementsAttr::get(type, ArrayRef<int64_t>(places)), node.getLoc());
  return node.create<ScatterAddOp>(value, indices, axis, size);
}

static void importCol2Im(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  std::optional<SmallVector<int64_t>> image =
      node.getIntegers(1, "image shape");
  std::optional<SmallVector<int64_t>> block =
      node.getIntegers(2, "block shape");
  if (!image || !block)
    return;
  size_t rank = image->size();
  if (block->size() != rank || rank == 0 ||
      llvm::any_of(*image, [](int64_t size) { return size < 1; })) {
    node.invalid("blocks " + formatShape(*block) + " do not fit an image of " +
                 formatShape(*image));
    return;
  }
  std::optional<Window> window = readWindow(node, *image, *block);
  if (!window)
    return;
  SmallVector<int64_t> positions = countPositions(node, *window, *image);
  if (positions.empty())
    return;
  ArrayRef<int64_t> shape = getShape(input);
  std::optional<int64_t> channels, rest;
  if (shape.size() == 3) {
    channels = divideByAll(shape[1], *block);
    rest = divideByAll(shape[2], positions);
  }
  if (!channels || rest != 1) {
    node.invalid("input of shape " + formatShape(shape) +
                 " does not hold blocks " + formatShape(*block) + " at " +
                 formatShape(positions) + " positions");
    return;
  }
  SmallVector<int64_t> split = {shape[0], *channels}, order = {0, 1};
  llvm::append_range(split, *block);
  llvm::append_range(split, positions);
  for (size_t axis = 0; axis < rank; ++axis) {
    order.push_back(static_cast<int64_t>(2 + axis));
    order.push_back(static_cast<int64_t>(2 + rank + axis));
  }
  Value value = node.transpose(node.reshape(input, split), order);
  for (size_t axis = 0; axis < rank; ++axis)
    value = addBlocks(node, value, *window, axis,
                      static_cast<int64_t>(2 + axis), (*image)[axis]);
  node.setOutput(0, value);
}

llvm::ArrayRef<OpHandler> getCol2ImHandlers() {
  static const OpHandler handlers[] = {
      {"Col2Im", 18, importCol2Im, 0b110, 3},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
