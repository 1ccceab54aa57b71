//===- CopyUses.h - For which copies a task's ops compute -------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_COPYUSES_H
#define HFTA_LIB_TRANSFORMS_COPYUSES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::hfta {

/// A module's tasks in the order in which a step runs them, those of other
/// kinds at the end.
SmallVector<func::FuncOp> getTasksInOrder(ModuleOp module);

/// The number of copies if some ops or variables are of one copy alone; 0 if
/// none is.
int64_t countCopiesApart(ModuleOp module);

/// The copies whose results an op of a task serves, whatever its type: those
/// whose programs would have the op if they were compiled alone.
class CopyUses {
public:
  CopyUses(ModuleOp module, int64_t copies);

  const llvm::SmallBitVector &getCopies(Operation *op) const;
  const llvm::SmallBitVector &getReaders(VariableOp variable) const;
  bool serves(Operation *op, int64_t copy) const {
    return getCopies(op).test(copy);
  }

private:
  bool visitTask(func::FuncOp task, const SymbolTable &symbols);
  llvm::SmallBitVector findCopies(Operation &op, const SymbolTable &symbols);
  llvm::SmallBitVector only(int64_t copy) const;

  int64_t copies;
  llvm::SmallBitVector none;
  DenseMap<Operation *, llvm::SmallBitVector> ofOp;
  /// Of variables: who reads them.
  DenseMap<Operation *, llvm::SmallBitVector> readers;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_COPYUSES_H
