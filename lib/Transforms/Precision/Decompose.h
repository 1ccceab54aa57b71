//===- Decompose.h - Rewrite composite ops ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_PRECISION_DECOMPOSE_H
#define HFTA_LIB_TRANSFORMS_PRECISION_DECOMPOSE_H

#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// Replaces all composite ops in `root` (DecomposableOpInterface) by simpler
/// ops, until none is left. With `keepsMatrices`, ops on whole matrices
/// (MatrixTrait) stay.
void decomposeAll(Operation *root, bool keepsMatrices = false);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PRECISION_DECOMPOSE_H
