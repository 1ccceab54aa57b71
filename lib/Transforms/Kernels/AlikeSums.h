//===- AlikeSums.h - Reductions that read the same tensor -------*- C++ -*-===//
//
// If one kernel computes several reductions of the same tensor, it reads the
// tensor only once. An example is the backward of a batch norm, which needs the
// sum of the gradient and the sum of the gradient's products with the
// normalized values. The functions below find such reductions and bring them
// together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_ALIKESUMS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_ALIKESUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Kernels/Kernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Returns the input of a reduction (hfta.reduce or hfta.part_sums); null for
/// other ops.
Value getSummed(Operation *op);

/// Whether two reductions have inputs of equal shape, reduce the same axes (or
/// equal parts), and read a common tensor as large as their inputs, so that one
/// loop can compute both.
bool readAlike(Operation *one, Operation *other);

/// Whether two hfta.reduce of small tensors have inputs of equal shape and
/// reduce the same axes, so that the threads of one kernel can compute first
/// one, then the other.
bool areSmallAndAlike(Operation *one, Operation *other);

/// Moves users of a reduction behind a later reduction that reads the same
/// tensor (readAlike), so that no op between the two forces them into different
/// kernels. Users are moved only if they are writes, or their results are no
/// larger than the reduction's, and the later reduction doesn't depend on them.
/// Nothing is moved past a write of `fixedWrites` (findFixedWrites).
void gatherSums(func::FuncOp task, const WriteSet &fixedWrites);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_ALIKESUMS_H
