//===- JoinAxes.h - Loops over several axes as one --------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Joins neighbouring axes of an op on memory into one where every operand is
/// contiguous across them. Returns the op with fewer axes, or `op` itself.
linalg::GenericOp joinAxes(RewriterBase &rewriter, linalg::GenericOp op);

/// Returns whether more axes could be joined without the operands that only an
/// op's epilogue uses.
bool epilogueHindersJoins(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
