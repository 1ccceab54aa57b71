//===- ElementCounts.h - Elements along axes of a shape ---------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H
#define HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::hfta {

/// Returns the product of sizes that aren't negative. Axes of a tensor without
/// elements may be so long that no int64_t holds the product: it is then the
/// largest int64_t.
int64_t multiplySizes(llvm::ArrayRef<int64_t> sizes);

/// Returns how many elements lie along some axes of a shape, limited in the
/// same way.
int64_t countAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_ELEMENTCOUNTS_H
