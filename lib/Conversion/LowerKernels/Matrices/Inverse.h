//===- Inverse.h - Two ways to invert matrices ------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H

#include "Matrices/MatrixKernel.h"
#include "Matrices/TriangleBlocks.h"

namespace mlir::hfta {

/// The number of times that a failed inversion is tried again, each time with
/// ten times the damping of the time before.
inline constexpr int64_t kFurtherTries = 3;

/// Emits the inversion of one matrix, block by block. Stores the inverse and
/// the number of failed tries.
void emitBlockedInverse(LoopBuilder &builder, const BlockShape &shape,
                        const MatrixKernel &kernel);
/// Emits the inversion of several matrices of `rows` rows, one in each lane of
/// vectors. Stores the inverses and the numbers of failed tries.
void emitLaneInverse(LoopBuilder &builder, Type element, int64_t rows,
                     ArrayRef<MatrixKernel> lanes);

/// Emits the result after all tries have failed: the old inverse if there is
/// one, else I / damping.
void emitFallback(LoopBuilder &builder, const MatrixKernel &kernel,
                  int64_t rows, Value damping);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_INVERSE_H
