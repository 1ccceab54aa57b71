//===- VectorTranspose.h - Squares of vectors in registers ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H

#include "mlir/IR/Builders.h"

namespace mlir::hfta {

/// Transposes a square matrix, given by its rows: returns its columns. The
/// number of rows is a power of two.
SmallVector<Value> transposeSquare(OpBuilder &builder, Location loc,
                                   SmallVector<Value> rows);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
