//===- MatrixKernel.h - A kernel that is one op on matrices -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Matrices/LoopBuilder.h"

namespace mlir::hfta {

/// Memory of the op's operands and results, of one copy, and the work item's
/// number, which is that of its matrix.
struct MatrixKernel {
  SmallVector<Value> operands, results;
  Value item;
};

/// How many matrices the op's kernel inverts at once, each in a lane; 1: none
/// has lanes.
int64_t countInverseLanes(SpdInverseOp op);
void emitInverse(LoopBuilder &builder, SpdInverseOp op,
                 ArrayRef<MatrixKernel> lanes);
/// They look at the op's results alone: its operands are memory already.
void emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
               const MatrixKernel &kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
