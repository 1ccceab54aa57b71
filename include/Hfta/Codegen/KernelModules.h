//===- KernelModules.h - Kernels as modules of their own --------*- C++ -*-===//
//
// At phase llvm, kernels are moved out of the program's module into modules of
// their own, so that threads can translate and compile them in parallel.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CODEGEN_KERNELMODULES_H
#define HFTA_CODEGEN_KERNELMODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

/// A kernel's functions and the constants that they read.
struct KernelModule {
  OwningOpRef<ModuleOp> code;
  size_t instructions; ///< estimated number of LLVM instructions
};

/// Moves large kernels, given by the names of their functions, from a module in
/// the LLVM dialect into modules of their own, and returns these by the
/// kernels' names. Declarations of the kernel and of its entry point stay; that
/// of the kernel keeps its attributes. Kernels that are small, or that share
/// functions or variables with others, aren't moved.
llvm::StringMap<KernelModule>
takeKernels(ModuleOp module, llvm::ArrayRef<llvm::StringRef> names);

/// Inserts declarations of a lowered kernel and of its entry point before
/// `place`. The kernel's declaration has the `attributes` from which the
/// program's tables are made.
void declareKernel(Operation *place, llvm::StringRef name,
                   DictionaryAttr attributes);

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_KERNELMODULES_H
