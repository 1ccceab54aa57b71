//===- HostOps.h - What threads do together, on the host --------*- C++ -*-===//
//
// An image for the host reads registers from an array, and calls functions of
// the emulated driver, by pointers that the driver sets (EmulatedImage.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_EMULATE_HOSTOPS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_EMULATE_HOSTOPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Creates a global of a module of GPU code, which is zero if `value` is null.
LLVM::GlobalOp createGlobal(ModuleOp code, StringRef name, Type type,
                            Attribute value, unsigned space = 0,
                            bool isConstant = false);

/// Creates the array of registers and the pointers to the driver's functions.
void createHostGlobals(ModuleOp code);

/// Returns whether an op needs the other threads of its block to run at the
/// same time: they wait for each other or exchange data.
bool needsOtherThreads(Operation *op);

/// Replaces an op of the hfta_gpu dialect by a read of a register or a call of
/// the driver. Emits an error if it can't be emulated.
LogicalResult replaceForHost(Operation *op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_EMULATE_HOSTOPS_H
