//===- JoinAxes.h - Loops over several axes as one --------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Joins neighbouring axes through which all operands of an op on memory run
/// row by row. Returns the op with fewer axes, or `op`.
linalg::GenericOp joinAxes(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_JOINAXES_H
