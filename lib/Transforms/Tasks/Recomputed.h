//===- Recomputed.h - Values that tasks compute again -----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_RECOMPUTED_H
#define HFTA_LIB_TRANSFORMS_TASKS_RECOMPUTED_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Tasks/CopyUses.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::hfta {

/// Value numbering across the tasks of some parts: values with equal numbers
/// are equal. Results of equal ops on operands with equal numbers get the same
/// number, and so does a read of a variable that only tasks access as the value
/// that was written to it.
class ValueNumbers {
public:
  ValueNumbers(ModuleOp module, ArrayRef<StringRef> ofParts);

  /// Returns a value's number, or 0 if the value isn't in these tasks.
  unsigned lookup(Value value) const { return numbers.lookup(value); }
  /// Returns pairs of a recomputed value and its first computation, in the
  /// order of the tasks.
  ArrayRef<std::pair<Value, Value>> getAgain() const { return again; }

private:
  using Key = SmallVector<const void *>;

  void visit(Operation &op);
  void visitRead(ReadOp read);
  void visitKernel(KernelOp kernel);
  void visitPure(Operation &op);
  /// Returns the number of values with this key, which is a new one if the key
  /// is unknown.
  unsigned find(const Key &key) {
    return ofKey.try_emplace(key, ofKey.size() + fresh).first->second;
  }
  void renew(Value value) { numbers[value] = ofKey.size() + fresh++; }

  SymbolTable symbols;
  llvm::StringSet<> written;
  DenseMap<Value, unsigned> numbers;
  std::map<Key, unsigned> ofKey;
  unsigned fresh = 1;
  llvm::StringMap<unsigned> ofVariable;
  /// The copies that ops serve, if some ops serve one copy only.
  std::optional<CopyUses> uses;
  /// The first value with a number, for each copy, or for copy -1 if all ops
  /// serve all copies.
  std::map<std::pair<unsigned, int64_t>, Value> first;
  SmallVector<std::pair<Value, Value>> again;
};

/// Finds values that are computed again from equal operands and for the same
/// copy: results of elementwise ops in kernels, and of all ops of `recompute`
/// tasks, that training tasks have computed before, or that a task of another
/// block has computed in an evaluation or inference. Returns pairs (recomputed,
/// first).
SmallVector<std::pair<Value, Value>> findRecomputed(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_RECOMPUTED_H
