//===- TransposedCopies.h - Products that read past a copy ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEDCOPIES_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEDCOPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Returns the op that makes the transposed copy which an input of an op reads,
/// if nothing else reads the copy, and what was copied hasn't changed when the
/// op reads it. Returns null if there is no such copy.
linalg::TransposeOp findTransposedCopy(OpOperand &input);

/// Returns a copy of the op that `input` belongs to, next to it, that reads the
/// elements of a transposed copy where they were copied from.
linalg::GenericOp readPastCopy(RewriterBase &rewriter, OpOperand &input,
                               linalg::TransposeOp copy);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_TRANSPOSEDCOPIES_H
