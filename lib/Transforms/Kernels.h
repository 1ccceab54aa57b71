//===- Kernels.h - What passes that form kernels share ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta {

inline bool isElementwise(Operation *op) {
  return isa<ElementwiseOpInterface>(op);
}

/// Of an op's first result.
inline ArrayRef<int64_t> getResultShape(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

/// Whether each kernel that uses the op's result makes it anew.
bool isRepeated(Operation *op);

/// Whether an op is in no kernel: it names memory, or a view of it.
bool isStructural(Operation *op);

/// Whether somebody needs an op's result in memory as it is.
bool isStored(Operation *op);

/// Whether an op adds up what indices choose: each of its elements goes through
/// updates of its own.
bool isScatteredSum(Operation *op);

/// Of one copy's tensor.
int64_t countBits(Value value);

/// Whether a value is that of a variable, or a view of it, which is among those
/// that a task writes.
bool isChanged(Value value, const llvm::StringSet<> &written);

/// Another shape of a value: a view of what is in memory; of what each kernel
/// makes anew it is made anew, too.
Value reshapeInKernels(OpBuilder &builder, Location loc, Value value,
                       llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with each op that uses a value in a kernel or as it is stored,
/// behind what kernels make anew; with some more than once.
void visitUsers(Operation *op, llvm::function_ref<void(Operation *)> visit);

/// Whether others than `members` use a value; what is made anew in each kernel
/// counts as those that use it.
bool isUsedOutside(Value value, const llvm::SetVector<Operation *> &members);

/// Large constants become variables that nobody writes, each once: `stored` has
/// those of other tasks.
void storeLargeConstants(func::FuncOp task, SymbolTable &symbols,
                         DenseMap<Attribute, VariableOp> &stored);

/// Moves all writes to the end, so that what they store can wait for what comes
/// later. Moves none and returns false where the task reads a variable that it
/// has written, or writes one twice.
bool sinkWrites(func::FuncOp task);

/// Has a constant or broadcast that is stored as it is, or read by an op that
/// is alone in its kernel, made where that is; before all writes where these
/// come last.
void sinkStoredValues(func::FuncOp task, bool areWritesLast);

/// Whether both are constants that are stored once and do nothing else, to
/// variables of every copy, of the same one, or that copies share.
bool areStoredAlike(Operation *one, Operation *other,
                    const SymbolTable &symbols);

/// Makes every written or stacked value of a task the sole use of a kernel's
/// result, as planned memory wants it.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_H
