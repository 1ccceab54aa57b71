//===- Windows.cpp - Sliding windows of convolution and pooling -----------===//

#include "Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Activation hfta::padSpace(OpBuilder &builder, Location loc,
                          const Activation &input, const Window &window,
                          Value scalar) {
  return input.pad(builder, loc, collect(window, &WindowAxis::low),
                   collect(window, &WindowAxis::high), scalar);
}

Axes hfta::getTapPositions(const Window &window, ArrayRef<Axis> positions,
                           ArrayRef<Axis> taps) {
  Axes result;
  for (auto [axis, position, tap] : llvm::zip(window, positions, taps))
    result.push_back(position * axis.stride + tap * axis.dilation);
  return result;
}

InverseWindowAxis::InverseWindowAxis(const WindowAxis &window,
                                     int64_t inputSize, int64_t windowCount)
    : phases(window.stride), extent(window.getExtent()),
      dilation(window.dilation) {
  bool dense = phases == 1;
  int64_t first = llvm::divideCeilSigned(window.low, phases);
  offset = first * phases - window.low;
  taps = dense ? window.kernel : llvm::divideCeil(offset + extent, phases);
  step = dense ? dilation : 1;
  count = llvm::divideCeil(inputSize, phases);
  low = (taps - 1) * step - first;
  high = count + first - windowCount;
}

InverseWindow hfta::getInverse(const Window &window,
                               ArrayRef<int64_t> inputSizes,
                               ArrayRef<int64_t> windowCounts) {
  InverseWindow inverse;
  for (auto [axis, size, windows] : llvm::zip(window, inputSizes, windowCounts))
    inverse.emplace_back(axis, size, windows);
  return inverse;
}

Activation hfta::padForInverse(OpBuilder &builder, Location loc,
                               const Activation &gradient,
                               const InverseWindow &inverse, Value scalar) {
  return gradient.pad(builder, loc, collect(inverse, &InverseWindowAxis::low),
                      collect(inverse, &InverseWindowAxis::high), scalar);
}

Value hfta::assembleInput(OpBuilder &builder, Location loc, Value elements,
                          size_t first, const InverseWindow &inverse,
                          ArrayRef<int64_t> inputSpace) {
  ArrayRef<int64_t> shape = getShape(elements);
  SmallVector<int64_t> whole(shape.take_front(first)), kept(whole);
  size_t next = first;
  for (auto [axis, size] : llvm::zip(inverse, inputSpace)) {
    whole.push_back(axis.count * axis.phases);
    kept.push_back(size);
    next += axis.phases > 1 ? 2 : 1;
  }
  llvm::append_range(whole, shape.drop_front(next));
  llvm::append_range(kept, shape.drop_front(next));
  SmallVector<int64_t> offsets(whole.size(), 0);
  return createSlice(builder, loc, createReshape(builder, loc, elements, whole),
                     offsets, kept);
}
