//===- KernelModules.h - Kernels in modules of their own --------*- C++ -*-===//
//
// At phase llvm, kernels leave the program's module for modules of their own,
// so that threads translate and compile them side by side.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_KERNELMODULES_H
#define HFTA_LIB_DRIVER_KERNELMODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

/// A kernel's functions and the constants that they read.
struct KernelModule {
  OwningOpRef<ModuleOp> code;
  size_t instructions; ///< about as many as LLVM will have
};

/// Moves the code of large kernels, given by the names of their functions, out
/// of a module in the LLVM dialect. Declarations of the kernel and of its entry
/// point stay, the former with the kernel's attributes. Kernels that are small,
/// or that share functions or variables with others, stay as they are. Returns
/// the modules by the kernels' names.
llvm::StringMap<KernelModule>
takeKernels(ModuleOp module, llvm::ArrayRef<llvm::StringRef> names);

/// Puts the declarations of a lowered kernel and of its entry point before
/// `place`. The kernel's has the attributes that the program's tables are made
/// of.
void declareKernel(Operation *place, llvm::StringRef name,
                   DictionaryAttr attributes);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_KERNELMODULES_H
