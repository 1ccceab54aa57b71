//===- Kernels.h - What passes on formed kernels share ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta {

/// Whether each kernel that uses the op's result makes it anew.
bool isRepeated(Operation *op);

/// Calls `visit` with each op that uses a value, behind what is made anew in
/// each kernel.
void visitUsers(Operation *op, llvm::function_ref<void(Operation *)> visit);

/// Moves writes to the end, so that what they store can wait for what comes
/// later; not where the task reads it again. Says whether all are there.
bool sinkWrites(func::FuncOp task);

/// Whether constants are each stored once, and both in every copy's memory, or
/// in what copies share.
bool areStoredAlike(Operation *one, Operation *other,
                    const SymbolTable &symbols);

/// Makes every written or stacked value of a task the sole use of a kernel's
/// result, as planned memory wants it.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_H
