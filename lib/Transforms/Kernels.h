//===- Kernels.h - What passes on formed kernels share ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Makes every written or stacked value of a task the sole use of a kernel's
/// result, as planned memory wants it.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_H
