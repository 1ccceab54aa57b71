//===- Movement.h - Parts of tensors ----------------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_MOVEMENT_MOVEMENT_H
#define HFTA_LIB_IMPORT_ONNX_MOVEMENT_MOVEMENT_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// Returns the slice of `input` with `size` elements along `axis`, beginning
/// with element `offset`.
Value sliceAxis(Node &node, Value input, int64_t axis, int64_t offset,
                int64_t size);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_MOVEMENT_MOVEMENT_H
