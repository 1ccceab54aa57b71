//===- Indexing.h - Elements at computed places -----------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
#define HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

/// Reports an error unless `indices` are int32 or int64.
bool requireIndices(Node &node, Value indices);

/// Repeats `value`, which lacks `axis` of `shape`, along that axis.
Value repeatAlong(Node &node, Value value, ArrayRef<int64_t> shape,
                  int64_t axis);

/// Gathers elements of `data`: their index along `axis` comes from `indices`,
/// which have as many axes, and their other indices are those of the result.
Value gatherAlong(Node &node, Value data, Value indices, int64_t axis);

/// Returns for each element of `shape` whether its index along `axis` equals
/// the one in `indices`, i64, which have the other axes.
Value isAtIndex(Node &node, Value indices, ArrayRef<int64_t> shape,
                int64_t axis);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_MOVEMENT_INDEXING_H
