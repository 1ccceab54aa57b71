//===- SeparateLayouts.h - Copies whose layouts differ ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H
#define HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Gives copies their own kernels and variables where layouts would differ.
/// Where models differ in part, ops of one copy alone may prefer channels last
/// for a value that they share with other copies. A layout determines the order
/// of sums, so each copy must keep the one that it would have alone. The
/// layouts of all remaining kernels and variables are the same for all copies.
void separateLayouts(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SEPARATELAYOUTS_H
