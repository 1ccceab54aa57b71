//===- Windows.h - Sliding windows of convolution and pooling ---*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H

#include "Activation.h"

namespace mlir::hfta {

/// A window's geometry along one spatial axis. Tap k of the window at position
/// o reads input element o * stride + k * dilation - low.
struct WindowAxis {
  int64_t kernel, stride, dilation, low, high;

  /// Returns the distance from the first to the last tap, plus one.
  int64_t getExtent() const { return (kernel - 1) * dilation + 1; }
};

using Window = SmallVector<WindowAxis>;

/// The window of a convolution or pooling op.
template <typename OpTy>
Window getWindow(OpTy op, ArrayRef<int64_t> kernel) {
  Window window;
  for (size_t axis = 0, rank = kernel.size(); axis < rank; ++axis)
    window.push_back({kernel[axis], op.getStrides()[axis],
                      op.getDilations()[axis], op.getPadding()[axis],
                      op.getPadding()[rank + axis]});
  return window;
}

/// Collects one member of all structs in a list.
template <typename T>
SmallVector<int64_t> collect(const SmallVector<T> &list, int64_t T::*member) {
  return llvm::map_to_vector(list, [&](const T &item) { return item.*member; });
}

/// Returns the input padded as the windows need it.
Activation padSpace(OpBuilder &builder, Location loc, const Activation &input,
                    const Window &window, Value scalar);

/// Returns where taps of windows at `positions` read the padded input.
Axes getTapPositions(const Window &window, ArrayRef<Axis> positions,
                     ArrayRef<Axis> taps);

/// The windows that cover an input element, along one spatial axis.
///
/// Input element q * phases + r, 0 <= r < phases, is visited with windows
/// w - (taps - 1 - j) * step for 0 <= j < taps, in ascending order, where w is
/// the last one that may cover it. Its distance from such a window's first tap
/// is r + (taps - 1 - j) * phases - offset, or (taps - 1 - j) * dilation if
/// there is one phase. The windows' gradient, padded by `low` and `high`, holds
/// that window's at q + j * step.
struct InverseWindowAxis {
  InverseWindowAxis(const WindowAxis &window, int64_t inputSize,
                    int64_t windowCount);

  int64_t phases; ///< the stride
  int64_t taps;   ///< candidates for windows that cover an element
  int64_t step;   ///< the distance from one candidate to the next
  int64_t count;  ///< the number of values of q
  int64_t offset; ///< a number in [0, phases)
  int64_t low; ///< the gradient's padding; negative: elements that are cut off
  int64_t high;
  int64_t extent;   ///< the window's extent
  int64_t dilation; ///< the window's dilation

  /// Returns whether every candidate covers its element.
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

/// Merges axes q, r, q, r, …, from axis `first` on, into the input's spatial
/// axes. Only axes with several phases have an r.
Value assembleInput(OpBuilder &builder, Location loc, Value elements,
                    size_t first, const InverseWindow &inverse,
                    ArrayRef<int64_t> inputSpace);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_WINDOWS_H
