//===- AlikeSums.h - Reductions that read the same tensor -------*- C++ -*-===//
//
// Terms that one kernel adds up to several sums are read once. The two sums of
// a batch norm's backward are an example: the sum of the gradient, and the sum
// of its products with the normalized values.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_ALIKESUMS_H
#define HFTA_LIB_TRANSFORMS_ALIKESUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Returns the value that a reduction, also one by parts, adds up; NULL for
/// other ops.
Value getSummed(Operation *op);

/// Whether two reductions visit the same elements in the same order, and both
/// read some large tensor.
bool readAlike(Operation *one, Operation *other);

/// Whether two reductions of small tensors have equally many sums of equally
/// many terms, so that threads can compute one after the other.
bool areSmallAndAlike(Operation *one, Operation *other);

/// Moves the ops that use such a reduction to after the last one that is alike,
/// where they can wait: then no op between the reductions keeps them in
/// different kernels. The task's writes must come last, as nothing is moved
/// past a write.
void gatherSums(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ALIKESUMS_H
