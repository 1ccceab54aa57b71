//===- TransposeEmitter.h - Elementwise ops that swap axes ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Lowers an elementwise op on memory of which some inputs are contiguous along
/// another axis than its outputs: reads squares of both axes as vectors,
/// transposes them in registers, computes on vectors and writes vectors.
/// Returns false and does nothing for other ops.
bool emitTranspose(OpBuilder &builder, linalg::GenericOp op,
                   const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEEMITTER_H
