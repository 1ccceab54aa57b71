//===- Window.h - Sliding windows of convolution and pooling ----*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H
#define HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// Greatest kernel, stride, dilation or padding.
inline constexpr int64_t kGreatestWindow = int64_t(1) << 30;

/// A window as hfta ops want it: one entry a spatial axis, `padding` the low
/// ends, then the high ones.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, padding;
  /// Of `padding`'s high ends, what only ceil mode asks for.
  SmallVector<int64_t> ceilPadding;
};

/// Reads kernel_shape (which must equal `kernel` where that isn't empty),
/// strides, dilations, pads, auto_pad and ceil_mode for an input of spatial
/// `sizes`. Nothing after an error. A `transposed` window's padding is the
/// caller's to derive from auto_pad.
std::optional<Window> readWindow(Node &node, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> kernel,
                                 bool transposed = false);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H
