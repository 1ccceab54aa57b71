//===- Kernels.h - Helpers of passes that form kernels ----------*- C++ -*-===//

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

/// Returns the shape of an op's first result.
inline ArrayRef<int64_t> getResultShape(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

/// Whether each kernel that uses the op's result recomputes it.
bool isRepeated(Operation *op);

/// Whether an op is in no kernel: it accesses memory, or is a view of it.
bool isStructural(Operation *op);

/// Whether a user of an op's result needs it in memory as it is.
bool isStored(Operation *op);

/// Whether an op adds up updates that indices select: each of its elements has
/// updates of its own.
bool isScatteredSum(Operation *op);

/// Returns the number of bits of one copy's tensor.
int64_t countBits(Value value);

/// Whether a value is that of a variable, or a view of it, and a task writes
/// the variable.
bool isChanged(Value value, const llvm::StringSet<> &written);

/// Reshapes a value: to a view of memory or, if each kernel recomputes the
/// value, to an op that each kernel recomputes, too.
Value reshapeInKernels(OpBuilder &builder, Location loc, Value value,
                       llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with each op that uses a value in a kernel or as it is stored,
/// directly or by way of ops that kernels recompute; with some more than once.
void visitUsers(Operation *op, llvm::function_ref<void(Operation *)> visit);

/// Whether ops other than `members` use a value; instead of an op that each
/// kernel recomputes, its users count.
bool isUsedOutside(Value value, const llvm::SetVector<Operation *> &members);

/// Turns large constants into variables that are never written, one for equal
/// constants: `stored` has those of other tasks.
void storeLargeConstants(func::FuncOp task, SymbolTable &symbols,
                         DenseMap<Attribute, VariableOp> &stored);

/// Moves all writes to the end, so that the ops that compute stored values can
/// be moved to later ones. Moves none and returns false where the task reads a
/// variable that it has written, or writes one twice.
bool sinkWrites(func::FuncOp task);

/// Moves a constant or broadcast that is stored as it is, or is read by an op
/// that is alone in its kernel, to its user; or to before all writes where
/// these come last.
void sinkStoredValues(func::FuncOp task, bool areWritesLast);

/// Whether both are constants that are stored once and otherwise unused, to
/// variables of every copy, of the same one, or that copies share.
bool areStoredAlike(Operation *one, Operation *other,
                    const SymbolTable &symbols);

/// Inserts copies into a task so that each operand of a write is a kernel's
/// result that no other write or stack uses, and each operand of a stack one
/// that nothing else uses, as memory planning requires.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_H
