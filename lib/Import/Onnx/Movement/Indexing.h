//===- Indexing.h - Elements addressed by indices ---------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
#define HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// Returns whether `indices` are int32 or int64. Otherwise reports an error,
/// unless they are null.
bool requireIndices(Node &node, Value indices);

/// Broadcasts `value`, which has the axes of `shape` except `axis`, along that
/// axis.
Value repeatAlong(Node &node, Value value, ArrayRef<int64_t> shape,
                  int64_t axis);

/// Gathers elements of `data` into a result of the shape of `indices`, which
/// have as many axes as `data`. The index along `axis` comes from `indices`,
/// and the other indices are those of the result's element.
Value gatherAlong(Node &node, Value data, Value indices, int64_t axis);

/// Returns, as a tensor of i1 of the given shape, whether each element's index
/// along `axis` equals the entry of `indices`, which are i64 and have the axes
/// of `shape` except `axis`.
Value isAtIndex(Node &node, Value indices, ArrayRef<int64_t> shape,
                int64_t axis);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
