//===- VectorTranspose.h - Squares of vectors in registers ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H

#include "mlir/IR/Builders.h"

namespace mlir::hfta {

/// The columns of a square matrix given by its rows, vectors whose number is a
/// power of two.
SmallVector<Value> transposeSquare(OpBuilder &builder, Location loc,
                                   SmallVector<Value> rows);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORTRANSPOSE_H
