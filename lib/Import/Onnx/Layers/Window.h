//===- Window.h - Sliding windows of convolution and pooling ----*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H
#define HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// The greatest kernel, stride, dilation or padding.
inline constexpr int64_t kGreatestWindow = int64_t(1) << 30;

/// A window as hfta ops describe it. The lists have one entry per spatial axis;
/// only `padding` has one per low end, then one per high end.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, padding;
  /// The part of the padding at high ends that is only due to ceil mode.
  SmallVector<int64_t> ceilPadding;
};

/// Reads kernel_shape (which must equal `kernel` unless that is empty),
/// strides, dilations, pads, auto_pad and ceil_mode for an input of spatial
/// `sizes`. Returns nothing after an error. The caller must derive a
/// `transposed` window's padding from auto_pad.
std::optional<Window> readWindow(Node &node, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> kernel,
                                 bool transposed = false);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_LAYERS_WINDOW_H
