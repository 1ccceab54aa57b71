//===- AlikeSums.h - Reductions that read the same tensor -------*- C++ -*-===//
//
// What one kernel computes of a tensor is read once. Both sums that a batch
// norm's backward needs are such: of the gradient, and of its products with
// what was normalized.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_ALIKESUMS_H
#define HFTA_LIB_TRANSFORMS_ALIKESUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// What a reduction, also one of parts, adds up; NULL for other ops.
Value getSummed(Operation *op);

/// Whether reductions go through the same elements in the same order, and read
/// the same ones of a large tensor.
bool readAlike(Operation *one, Operation *other);

/// Whether reductions of small tensors have as many sums of as many terms each,
/// which threads can add up one after the other.
bool areSmallAndAlike(Operation *one, Operation *other);

/// Moves what uses such a reduction behind the last of those that are alike,
/// where it can wait: then nothing between them keeps them apart. Of a task
/// whose writes come last: nothing is moved past a write.
void gatherSums(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ALIKESUMS_H
