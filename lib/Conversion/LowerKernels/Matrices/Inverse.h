//===- Inverse.h - Two ways to invert matrices ------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H

#include "Matrices/MatrixKernel.h"
#include "Matrices/TriangleBlocks.h"

namespace mlir::hfta {

/// How many more times an inversion that has failed is tried, each time with
/// ten times the damping of the time before.
inline constexpr int64_t kFurtherTries = 3;

/// Emits the inversion of one matrix, block by block.
void emitBlockedInverse(LoopBuilder &builder, const BlockShape &shape,
                        const MatrixKernel &kernel);
/// Emits the inversion of matrices of `rows` rows, one in each lane of a
/// vector.
void emitLaneInverse(LoopBuilder &builder, Type element, int64_t rows,
                     ArrayRef<MatrixKernel> lanes);

/// Emits the result after all tries have failed: the old inverse, or I /
/// damping.
void emitFallback(LoopBuilder &builder, const MatrixKernel &kernel,
                  int64_t rows, Value damping);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H
