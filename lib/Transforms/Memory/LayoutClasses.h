//===- LayoutClasses.h - Tensors that share a layout ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEMORY_LAYOUTCLASSES_H
#define HFTA_LIB_TRANSFORMS_MEMORY_LAYOUTCLASSES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Tasks/CopyUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::hfta {

/// Returns the type of a tensor whose axes are permuted to channels last.
RankedTensorType getStoredType(RankedTensorType logical);

/// A restriction to the ops that serve one copy.
struct LayoutView {
  const CopyUses *uses = nullptr; ///< null: all ops
  int64_t copy = -1;
};

/// Groups the tensors of all tasks, between kernels and inside them, into
/// classes that have one layout. A class joins a kernel's operands and results
/// with the values inside, the operands and results of an elementwise op, the
/// values of a saved or cut variable, and a value with its recomputation. The
/// classes don't depend on how ops are grouped into kernels, or tasks are cut
/// into blocks.
class LayoutClasses {
public:
  /// Classifies tasks whose ops are grouped into kernels. With a view, only the
  /// view's ops count, so that the classes are those of a program for this copy
  /// alone. `recomputed` are all pairs of `findRecomputed`.
  LayoutClasses(ModuleOp module, ArrayRef<std::pair<Value, Value>> recomputed,
                LayoutView view = {});

  /// Returns whether a tensor's class is stored with channels last where
  /// possible.
  bool isChannelsLast(Value value) const;
  /// Returns whether a variable is stored with channels last. It isn't if it is
  /// read, but not by kernels.
  bool isChannelsLast(VariableOp variable) const;
  /// Returns whether a value of a class with channels last can have been stored
  /// that way: by a kernel or in a variable, directly or through stacks of
  /// copies.
  bool isCarried(Value value) const;

private:
  /// Returns the operand of a stack for the view's copy, or all operands
  /// without a view.
  OperandRange getStacked(StackOp stack) const;
  bool isRead(Value value) const;
  bool isSeen(Operation *op) const {
    return !view.uses || view.uses->serves(op, view.copy);
  }
  void addTask(func::FuncOp task, const SymbolTable &symbols);
  void addKernel(KernelOp kernel);
  void addActivations(ActivationOpInterface op);
  unsigned getNumber(const void *tensor);
  void join(Value one, Value other);
  bool isChosen(const void *tensor) const;

  LayoutView view;
  DenseMap<const void *, unsigned> numbers;
  llvm::IntEqClasses classes;
  /// The activations for which an op chooses channels last.
  SmallVector<unsigned> votes;
  /// The leaders of the classes with channels last.
  DenseSet<unsigned> chosen;
  /// The variables that tasks read, and whether kernels read them.
  DenseMap<Operation *, bool> reads;
  /// The variable that each read of a task names.
  DenseMap<Operation *, VariableOp> variables;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEMORY_LAYOUTCLASSES_H
