//===- TransposeEmitter.h - Elementwise ops that swap axes ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Lowers an elementwise op on memory if some of its inputs are contiguous
/// along another axis than its outputs: squares of both axes are read in
/// vectors, transposed in registers, computed with, and written in vectors.
/// Returns false for other ops.
bool emitTranspose(OpBuilder &builder, linalg::GenericOp op,
                   const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H
