//===- CopyUses.h - The copies that a task's ops compute for ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_COPYUSES_H
#define HFTA_LIB_TRANSFORMS_TASKS_COPYUSES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::hfta {

/// Returns a module's tasks: first forwards by increasing block, then recompute
/// and backward tasks by decreasing block, as a step runs them, then all
/// others.
SmallVector<func::FuncOp> getTasksInOrder(ModuleOp module);

/// Returns whether a variable may be stored in another order than its logical
/// one, because only tasks access it.
bool isOfTasksAlone(VariableOp variable);

/// Returns for how many copies a variable is stored; 1 if it is shared.
int64_t countStoredCopies(VariableOp variable);

/// Returns the number of copies of the job if some op or variable is for a
/// single copy, or for some copies alone; otherwise 0.
int64_t countCopiesApart(ModuleOp module);

/// Returns whether two reads or writes of one variable may access the same
/// copy's value.
template <typename OneOp, typename OtherOp>
bool mayAccessSameCopy(OneOp one, OtherOp other) {
  auto accesses = [](auto op, int64_t copy) {
    return (!op.getCopy() || static_cast<int64_t>(*op.getCopy()) == copy) &&
           (!op.getOnly() || llvm::is_contained(*op.getOnly(), copy));
  };
  auto accessesAny = [&](auto op, auto of) {
    return llvm::any_of(*of.getOnly(),
                        [&](int64_t copy) { return accesses(op, copy); });
  };
  if (one.getOnly())
    return accessesAny(other, one);
  if (other.getOnly())
    return accessesAny(one, other);
  return !one.getCopy() || !other.getCopy() || one.getCopy() == other.getCopy();
}

/// For each op of all tasks, the set of copies whose results depend on it:
/// those whose programs would have the op if they were compiled alone. The op's
/// type doesn't show this: an arrayed value may be used for some of the copies
/// only. Sets have one bit per copy.
class CopyUses {
public:
  CopyUses(ModuleOp module, int64_t copies);

  /// Returns the copies that an op serves; none for an op outside of tasks.
  const llvm::SmallBitVector &getCopies(Operation *op) const;
  /// Returns the copies for which some task reads the variable.
  const llvm::SmallBitVector &getReaders(VariableOp variable) const;
  bool serves(Operation *op, int64_t copy) const {
    return getCopies(op).test(copy);
  }

private:
  bool visitTask(func::FuncOp task, const SymbolTable &symbols);
  llvm::SmallBitVector findCopies(Operation &op, const SymbolTable &symbols);
  llvm::SmallBitVector only(ArrayRef<int64_t> some) const;

  int64_t copies;
  llvm::SmallBitVector none;
  DenseMap<Operation *, llvm::SmallBitVector> ofOp;
  /// The copies that read each variable.
  DenseMap<Operation *, llvm::SmallBitVector> readers;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_COPYUSES_H
