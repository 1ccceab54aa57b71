//===- MatrixKernel.h - A kernel that is one op on matrices -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H

#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Matrices/LoopBuilder.h"

namespace mlir::hfta {

/// The memory of an op's operands and results, for all matrices of one copy,
/// and the number of the work item, which is the index of the item's matrix.
struct MatrixKernel {
  SmallVector<Value> operands, results;
  Value item;
};

/// Returns the number of matrices that an op's kernel inverts at once, one in
/// each lane of vectors; 1 if it doesn't use lanes.
int64_t countInverseLanes(SpdInverseOp op);
/// Emits the inversion of one matrix for each element of `lanes`. Uses only the
/// types of the op's results, as its operands have become memory already.
void emitInverse(LoopBuilder &builder, SpdInverseOp op,
                 ArrayRef<MatrixKernel> lanes);
/// Emits the eigendecomposition of one matrix. Uses only the types of the op's
/// results, as its operands have become memory already.
void emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
               const MatrixKernel &kernel);
/// Emits the loss of one sequence and, unless the gradient's memory isn't an
/// argument of the kernel, its gradient. Uses only the types of the op's
/// results. `usesLanes`: vectors hold neighbouring states of alignments, else
/// they have one element.
void emitCtcLoss(LoopBuilder &builder, CtcLossOp op, const MatrixKernel &kernel,
                 bool usesLanes);
/// Emits the orthogonal iteration of one matrix, with the op as above.
void emitOrthogonalIteration(LoopBuilder &builder, OrthogonalIterationOp op,
                             const MatrixKernel &kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_MATRIXKERNEL_H
