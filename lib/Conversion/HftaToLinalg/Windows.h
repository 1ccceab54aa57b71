//===- Windows.h - Sliding windows of convolution and pooling ---*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H

#include "Activation.h"

namespace mlir::hfta {

/// The geometry of a window along one spatial axis. At position o, tap k reads
/// element o * stride + k * dilation - low of the input.
struct WindowAxis {
  int64_t kernel, stride, dilation, low, high;

  /// Returns the distance from the first to the last tap plus one, in elements.
  int64_t getExtent() const { return (kernel - 1) * dilation + 1; }
};

using Window = SmallVector<WindowAxis>;

/// Returns the window of a convolution or pooling op whose sizes are `kernel`.
template <typename OpTy>
Window getWindow(OpTy op, ArrayRef<int64_t> kernel) {
  Window window;
  for (size_t axis = 0, rank = kernel.size(); axis < rank; ++axis)
    window.push_back({kernel[axis], op.getStrides()[axis],
                      op.getDilations()[axis], op.getPadding()[axis],
                      op.getPadding()[rank + axis]});
  return window;
}

/// Collects a member of all structs in a list.
template <typename T>
SmallVector<int64_t> collect(const SmallVector<T> &list, int64_t T::*member) {
  return llvm::map_to_vector(list, [&](const T &item) { return item.*member; });
}

/// Returns the input padded by the window's `low` and `high`, with `scalar`.
Activation padSpace(OpBuilder &builder, Location loc, const Activation &input,
                    const Window &window, Value scalar);

/// Returns the indices at which the taps of windows at `positions` read the
/// padded input, one for each spatial axis.
Axes getTapPositions(const Window &window, ArrayRef<Axis> positions,
                     ArrayRef<Axis> taps);

/// The windows that cover an input element, along one spatial axis.
///
/// Input element q * phases + r, with 0 <= r < phases, is visited with the
/// windows
///   w - (taps - 1 - j) * step    for 0 <= j < taps
/// in ascending order; w is the last window that may cover the element. The
/// element's distance from such a window's first tap is
///   r + (taps - 1 - j) * phases - offset    with several phases,
///   (taps - 1 - j) * dilation               with one phase.
/// In the gradient of the windows, padded by `low` and `high`, the gradient of
/// that window is at q + j * step.
struct InverseWindowAxis {
  InverseWindowAxis(const WindowAxis &window, int64_t inputSize,
                    int64_t windowCount);

  int64_t phases; ///< the number of phases, which is the window's stride
  int64_t taps;   ///< candidates: the windows that may cover an element
  int64_t step;   ///< the distance from one candidate to the next
  int64_t count;  ///< the number of values of q
  int64_t offset; ///< a number in [0, phases)
  int64_t low; ///< padding of the gradient; negative: elements that are cut off
  int64_t high;
  int64_t extent;   ///< the window's extent
  int64_t dilation; ///< the window's dilation

  /// Returns whether every candidate covers its element, so that no condition
  /// has to be computed.
  bool isExact() const {
    return phases == 1 ||
           (offset == 0 && extent % phases == 0 && dilation == 1);
  }
};

using InverseWindow = SmallVector<InverseWindowAxis>;

InverseWindow getInverse(const Window &window, ArrayRef<int64_t> inputSizes,
                         ArrayRef<int64_t> windowCounts);

Activation padForInverse(OpBuilder &builder, Location loc,
                         const Activation &gradient,
                         const InverseWindow &inverse, Value scalar);

/// Merges pairs of axes (q, r) of InverseWindowAxis, from axis `first` on, into
/// the input's spatial axes. An axis with one phase has no r.
Value assembleInput(OpBuilder &builder, Location loc, Value elements,
                    size_t first, const InverseWindow &inverse,
                    ArrayRef<int64_t> inputSpace);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H
