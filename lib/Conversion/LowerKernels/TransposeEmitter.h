//===- TransposeEmitter.h - Copies that swap axes ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_TRANSPOSEEMITTER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_TRANSPOSEEMITTER_H

#include "LoopPlan.h"

namespace mlir::hfta {

/// Lowers an op on memory that copies its input, whose contiguous axis isn't
/// that of its output: squares of both axes are read by vectors, transposed in
/// registers, and written by vectors. Returns false for other ops.
bool emitTranspose(OpBuilder &builder, linalg::GenericOp op,
                   VectorTarget target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_TRANSPOSEEMITTER_H
