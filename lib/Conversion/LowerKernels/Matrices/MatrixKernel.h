//===- MatrixKernel.h - A kernel that is one op on matrices -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Matrices/LoopBuilder.h"

namespace mlir::hfta {

/// The memory of the op's operands and results, of one copy, and the number of
/// the work item, which is the index of its matrix.
struct MatrixKernel {
  SmallVector<Value> operands, results;
  Value item;
};

/// Returns how many matrices the op's kernel inverts at once, each in a lane;
/// 1: it doesn't use lanes.
int64_t countInverseLanes(SpdInverseOp op);
void emitInverse(LoopBuilder &builder, SpdInverseOp op,
                 ArrayRef<MatrixKernel> lanes);
/// The functions above and below use the types of the op's results only, as its
/// operands are memory already.
void emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
               const MatrixKernel &kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
