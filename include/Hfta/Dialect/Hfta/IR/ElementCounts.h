//===- ElementCounts.h - Elements along axes of a shape ---------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H
#define HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::hfta {

/// Returns the product of nonnegative sizes, or the largest int64_t if the
/// product is larger. The latter can happen even for a tensor without elements,
/// for example in a product over some of its axes.
int64_t multiplySizes(llvm::ArrayRef<int64_t> sizes);

/// Returns how many elements lie along the given axes of a shape, saturated
/// like multiplySizes.
int64_t countAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H
