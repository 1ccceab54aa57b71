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
/// values: results of equal ops on operands of equal numbers, and what is read
/// from a variable of tasks alone and was written there.
class ValueNumbers {
public:
  ValueNumbers(ModuleOp module, ArrayRef<StringRef> ofParts);

  /// A value's number; 0: of other tasks.
  unsigned lookup(Value value) const { return numbers.lookup(value); }
  /// What has been computed again, and what it was first, in the order of the
  /// tasks.
  ArrayRef<std::pair<Value, Value>> getAgain() const { return again; }

private:
  using Key = SmallVector<const void *>;

  void visit(Operation &op);
  void visitRead(ReadOp read);
  void visitKernel(KernelOp kernel);
  void visitPure(Operation &op);
  /// The number of a value that is known by `key`; a new one without.
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
  /// Where some ops are of one copy alone: what serves which copy.
  std::optional<CopyUses> uses;
  /// Of a number and a copy, or -1 where all ops serve all.
  std::map<std::pair<unsigned, int64_t>, Value> first;
  SmallVector<std::pair<Value, Value>> again;
};

/// Results of elementwise ops in kernels, and of all ops of `recompute` tasks,
/// that compute a value again, of the same operands, that training tasks have
/// computed for the same copy, or a task of another block of an evaluation or
/// an inference: (again, first).
SmallVector<std::pair<Value, Value>> findRecomputed(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_RECOMPUTED_H
