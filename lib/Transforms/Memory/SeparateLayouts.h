//===- SeparateLayouts.h - Separates copies by layouts ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEMORY_SEPARATELAYOUTS_H
#define HFTA_LIB_TRANSFORMS_MEMORY_SEPARATELAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Gives copies their own kernels and variables if their layouts would differ.
/// If models differ in part, ops of one copy alone may prefer channels last for
/// a value that the copy shares with others. Since a layout determines the
/// order of sums, each copy must keep the layout that it would have alone. The
/// layouts of all remaining kernels and variables are the same for all copies.
void separateLayouts(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEMORY_SEPARATELAYOUTS_H
