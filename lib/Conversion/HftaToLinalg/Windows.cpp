//===- Windows.cpp - Sliding windows of convolution and pooling -----------===//

#include "Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::padSpace(OpBuilder &builder, Location loc, Value input,
                     const Window &window, Value scalar) {
  return padTrailing(builder, loc, input, collect(window, &WindowAxis::low),
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

Value hfta::padForInverse(OpBuilder &builder, Location loc, Value gradient,
                          const InverseWindow &inverse, Value scalar) {
  return padTrailing(builder, loc, gradient,
                     collect(inverse, &InverseWindowAxis::low),
                     collect(inverse, &InverseWindowAxis::high), scalar);
}

Value hfta::assembleInput(OpBuilder &builder, Location loc, Value elements,
                          const InverseWindow &inverse,
                          ArrayRef<int64_t> inputShape) {
  SmallVector<int64_t> shape(inputShape.drop_back(inverse.size()));
  for (const InverseWindowAxis &axis : inverse)
    shape.push_back(axis.count * axis.phases);
  Value whole = createReshape(builder, loc, elements, shape);
  SmallVector<int64_t> offsets(shape.size(), 0);
  return createSlice(builder, loc, whole, offsets, inputShape);
}
