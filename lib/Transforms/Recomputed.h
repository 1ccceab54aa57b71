//===- Recomputed.h - Values that tasks compute again -----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_RECOMPUTED_H
#define HFTA_LIB_TRANSFORMS_RECOMPUTED_H

#include "CopyUses.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::hfta {

/// Numbers values of the tasks of some parts so that equal numbers mean equal
/// values: results of equal ops on operands of equal numbers, and reads of
/// variables that only tasks access, of the value written there.
class ValueNumbers {
public:
  ValueNumbers(ModuleOp module, ArrayRef<StringRef> ofParts);

  /// Returns a value's number; 0: the value is in other tasks.
  unsigned lookup(Value value) const { return numbers.lookup(value); }
  /// Returns the recomputed values, each with its first computation, in the
  /// order of the tasks.
  ArrayRef<std::pair<Value, Value>> getAgain() const { return again; }

private:
  using Key = SmallVector<const void *>;

  void visit(Operation &op);
  void visitRead(ReadOp read);
  void visitKernel(KernelOp kernel);
  void visitPure(Operation &op);
  /// Returns the number of the values with this `key`; a new one if it is
  /// unknown.
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
  /// Which ops serve which copy, where some ops are of one copy alone.
  std::optional<CopyUses> uses;
  /// The first value of each number and copy, or -1 where all ops serve all
  /// copies.
  std::map<std::pair<unsigned, int64_t>, Value> first;
  SmallVector<std::pair<Value, Value>> again;
};

/// Finds values that are computed again from the same operands and for the same
/// copy: results of elementwise ops in kernels, and of all ops of `recompute`
/// tasks, that training tasks have computed before, or a task of another block
/// of an evaluation or an inference. Returns pairs (again, first).
SmallVector<std::pair<Value, Value>> findRecomputed(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_RECOMPUTED_H
