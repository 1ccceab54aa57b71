//===- LayoutClasses.h - Tensors that are stored alike ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
#define HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H

#include "CopyUses.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::hfta {

/// Whether a variable may be stored in another order than its logical one, as
/// only tasks access it.
bool isOfTasksAlone(VariableOp variable);

/// Returns a tensor type that is stored with channels last.
RankedTensorType getStoredType(RankedTensorType logical);

/// The ops of tasks that are taken into account: those that serve a certain
/// copy.
struct LayoutView {
  const CopyUses *uses = nullptr; ///< null: all ops
  int64_t copy = -1;
};

/// Groups the tensors of all tasks, between kernels and inside them, into
/// classes that have one layout: a kernel's operands and results with the
/// values inside, the operands and results of one elementwise op, the values of
/// a saved or cut variable, and a value with its recomputed equal. The classes
/// don't depend on how ops are grouped into kernels or tasks cut into blocks.
class LayoutClasses {
public:
  /// Classifies tasks whose ops are grouped into kernels. With a view, only its
  /// ops count, as in the program of its copy alone. `recomputed` are all pairs
  /// of `findRecomputed`.
  LayoutClasses(ModuleOp module, ArrayRef<std::pair<Value, Value>> recomputed,
                LayoutView view = {});

  /// Whether a tensor's class is stored with channels last, as far as possible.
  bool isChannelsLast(Value value) const;
  /// Whether a variable's class is; not where only views read the variable.
  bool isChannelsLast(VariableOp variable) const;
  /// Whether a value of such a class can have been stored with channels last:
  /// by a kernel or in such a variable, perhaps by way of stacks of copies.
  bool isCarried(Value value) const;

private:
  /// Returns the view's copy of a stack; all copies without a view.
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
  /// Activations of ops that would choose channels last.
  SmallVector<unsigned> votes;
  DenseSet<unsigned> chosen;
  /// Variables that are read, and whether kernels read them.
  DenseMap<Operation *, bool> reads;
  /// The variables that reads of tasks name.
  DenseMap<Operation *, VariableOp> variables;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
