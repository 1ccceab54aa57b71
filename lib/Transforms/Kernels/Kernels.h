//===- Kernels.h - Helpers of passes that form kernels ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_KERNELS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_KERNELS_H

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

/// Whether an op stays outside of kernels: a read or write, a stack or unstack,
/// a reshape that is a view of memory, a kernel, or a terminator.
bool isStructural(Operation *op);

/// Whether some user needs the op's result in memory: an op outside of kernels,
/// or one that is alone in its kernel.
bool isStored(Operation *op);

/// Whether an op is an hfta.scatter_add or hfta.segment_sum: each element of
/// its result is the sum of those terms that indices assign to it.
bool isScatteredSum(Operation *op);

/// Returns the size in bits of one copy's tensor of a value.
int64_t countBits(Value value);

/// Whether a value is read, perhaps through views, from one of the variables
/// that a task writes.
bool isChanged(Value value, const llvm::StringSet<> &written);

/// Returns `value` with another shape. If kernels recompute `value`, they
/// recompute the new hfta.reshape, too; otherwise that is a view of memory.
Value reshapeInKernels(OpBuilder &builder, Location loc, Value value,
                       llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with each op that uses a result of `op`. In place of a user
/// that kernels recompute, and that isn't stored, its own users count. May call
/// it with the same op several times.
void visitUsers(Operation *op, llvm::function_ref<void(Operation *)> visit);

/// Whether an op that isn't in `members` uses a value. In place of a user that
/// kernels recompute, its own users count.
bool isUsedOutside(Value value, const llvm::SetVector<Operation *> &members);

/// Replaces large constants by reads of new variables of role `constant`. Equal
/// constants share a variable: `stored` maps the constants of all tasks so far
/// to their variables.
void storeLargeConstants(func::FuncOp task, SymbolTable &symbols,
                         DenseMap<Attribute, VariableOp> &stored);

/// Moves all writes to the end of a task, so that any other op can be moved
/// down. Moves none and returns false if the task reads a variable that it has
/// written before, or writes a variable, or one copy's slice of it, twice.
bool sinkWrites(func::FuncOp task);

/// Writes of a task.
using WriteSet = DenseSet<Operation *>;

/// Returns the writes of a task to variables that it also reads, or writes
/// again. Ops must not be moved past these.
WriteSet findFixedWrites(func::FuncOp task);

/// For each write, stack, and op that is alone in its kernel, clones those of
/// its operands that kernels recompute, such as constants and broadcasts. The
/// clones come directly before that op, or before all writes where these come
/// last.
void sinkStoredValues(func::FuncOp task, bool areWritesLast);

/// Whether both ops are constants whose only use is a write to a variable, and
/// either both variables are arrayed, or both are shared, or both belong to the
/// same copy.
bool areStoredAlike(Operation *one, Operation *other,
                    const SymbolTable &symbols);

/// Inserts kernels that copy values, as memory planning requires: each operand
/// of a write is then a kernel's result that no other write or stack uses, and
/// each operand of a stack one that nothing else uses.
void insertCopies(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_KERNELS_H
