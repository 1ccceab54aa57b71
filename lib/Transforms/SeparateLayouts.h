//===- SeparateLayouts.h - Copies that want other layouts -------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H
#define HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Where models differ in part, ops of one copy alone may want channels last
/// for a value that they share with other copies. A layout decides in which
/// order sums are taken, so each copy must keep the one that it would have
/// alone: kernels and variables whose layouts would differ between copies
/// become each copy's own. The layouts of what is left are the same for all.
void separateLayouts(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H
