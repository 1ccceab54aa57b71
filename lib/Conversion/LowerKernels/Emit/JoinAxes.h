//===- JoinAxes.h - Loops over several axes as one --------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Makes one axis of neighbouring axes that all operands of an op on memory
/// run through row by row. Returns the op with fewer axes, or `op`.
linalg::GenericOp joinAxes(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
