//===- Kernels.h - What passes that form kernels share ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta {

/// Whether each kernel that uses the op's result makes it anew.
bool isRepeated(Operation *op);

/// Calls `visit` with each op that uses a value in a kernel or as it is stored,
/// behind what kernels make anew.
void visitUsers(Operation *op, llvm::function_ref<void(Operation *)> visit);

/// Large constants become variables that nobody writes, each once: `stored` has
/// those of other tasks.
void storeLargeConstants(func::FuncOp task, SymbolTable &symbols,
                         DenseMap<Attribute, VariableOp> &stored);

/// Moves all writes to the end, so that what they store can wait for what comes
/// later. Moves none and returns false where the task reads a variable that it
/// has written, or writes one twice.
bool sinkWrites(func::FuncOp task);

/// Whether both are constants that are stored once and do nothing else, to
/// variables of every copy, of the same one, or that copies share.
bool areStoredAlike(Operation *one, Operation *other,
                    const SymbolTable &symbols);

/// Makes every written or stacked value of a task the sole use of a kernel's
/// result, as planned memory wants it.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_H
