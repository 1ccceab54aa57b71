//===- CopyUses.h - The copies that a task's ops compute for ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_COPYUSES_H
#define HFTA_LIB_TRANSFORMS_COPYUSES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::hfta {

/// Returns a module's tasks in the order in which a step runs them; tasks of
/// other kinds come last.
SmallVector<func::FuncOp> getTasksInOrder(ModuleOp module);

/// Returns the number of copies if some ops or variables belong to one copy
/// alone; 0 if none does.
int64_t countCopiesApart(ModuleOp module);

/// The copies whose results depend on an op of a task, whatever its type: those
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
  /// The copies that read each variable.
  DenseMap<Operation *, llvm::SmallBitVector> readers;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_COPYUSES_H
