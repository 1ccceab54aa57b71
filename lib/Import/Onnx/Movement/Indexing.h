//===- Indexing.h - Elements at computed places -----------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
#define HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// An error unless `indices` are int32 or int64.
bool requireIndices(Node &node, Value indices);

/// Repeats `value`, which lacks `axis` of `shape`, along that.
Value repeatAlong(Node &node, Value value, ArrayRef<int64_t> shape,
                  int64_t axis);

/// The elements of `data` that `indices`, of as many axes, name along `axis`,
/// and their own places along all others.
Value gatherAlong(Node &node, Value data, Value indices, int64_t axis);

/// Whether each element's index along `axis` of `shape` is the one in
/// `indices`, i64, whose axes are the others.
Value isAtIndex(Node &node, Value indices, ArrayRef<int64_t> shape,
                int64_t axis);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
