//===- Decompose.h - Rewrite composite ops ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_DECOMPOSE_H
#define HFTA_LIB_TRANSFORMS_DECOMPOSE_H

#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// Rewrites all ops in `root` that consist of simpler ones in terms of those.
void decomposeAll(Operation *root);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_DECOMPOSE_H
