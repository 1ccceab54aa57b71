//===- KernelEntries.h - Kernels' C entry points ----------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_FUNCTIONS_KERNELENTRIES_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_FUNCTIONS_KERNELENTRIES_H

#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Adds the C entry point `void name/entry(void *const *buffers, int64_t item,
/// void *scratch)`, which loads the pointers and calls the kernel. For a kernel
/// with several lanes the second parameter is `const int64_t *items`.
void createEntry(ModuleOp module, const LoweredKernel &kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_FUNCTIONS_KERNELENTRIES_H
