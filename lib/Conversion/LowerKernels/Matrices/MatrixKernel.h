//===- MatrixKernel.h - A kernel that is one op on matrices -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Matrices/LoopBuilder.h"

namespace mlir::hfta {

/// Memory of the op's operands and results, and the work item's number, which
/// is that of its matrix.
struct MatrixKernel {
  SmallVector<Value> operands, results;
  Value item;
};

void emitInverse(LoopBuilder &builder, SpdInverseOp op,
                 const MatrixKernel &kernel);
void emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
               const MatrixKernel &kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
