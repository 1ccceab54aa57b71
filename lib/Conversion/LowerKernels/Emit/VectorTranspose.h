//===- VectorTranspose.h - Transposition in registers -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H

#include "mlir/IR/Builders.h"

namespace mlir::hfta {

/// Transposes a square matrix in registers. Takes its rows and returns its
/// columns. The number of rows must be a power of two.
SmallVector<Value> transposeSquare(OpBuilder &builder, Location loc,
                                   SmallVector<Value> rows);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
