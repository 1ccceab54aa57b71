//===- LayoutClasses.h - Tensors that are stored alike ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
#define HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H

#include "CopyUses.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::hfta {

/// Whether a variable may be stored in another order than its logical one:
/// nobody but tasks sees it.
bool isOfTasksAlone(VariableOp variable);

/// A tensor type stored with channels last.
RankedTensorType getStoredType(RankedTensorType logical);

/// Which ops of tasks count: those that serve a certain copy.
struct LayoutView {
  const CopyUses *uses = nullptr; ///< null: all ops
  int64_t copy = -1;
};

/// The tensors of all tasks, between kernels and inside, in classes that have
/// one layout: what a kernel takes or gives and what it is inside, what one
/// elementwise op reads and writes, what a saved or cut variable holds, what is
/// computed and computed again. They are the same however ops are grouped into
/// kernels or tasks cut in blocks.
class LayoutClasses {
public:
  /// Of tasks whose ops are grouped into kernels; of the ops of a view, as they
  /// would be in the program of its copy alone. `recomputed` are all pairs of
  /// `findRecomputed`.
  LayoutClasses(ModuleOp module, ArrayRef<std::pair<Value, Value>> recomputed,
                LayoutView view = {});

  /// Whether a tensor's class is stored with channels last, as far as it can
  /// be.
  bool isChannelsLast(Value value) const;
  /// Whether a variable is; not where only views read it.
  bool isChannelsLast(VariableOp variable) const;
  /// Whether a value of such a class can have come there with channels last:
  /// from a kernel or such a variable, perhaps through stacks of copies.
  bool isCarried(Value value) const;

private:
  /// The view's copy of a stack; all of them without a view.
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
  /// Activations of ops that would have channels last.
  SmallVector<unsigned> votes;
  DenseSet<unsigned> chosen;
  /// Variables that are read, and whether by kernels.
  DenseMap<Operation *, bool> reads;
  /// Those that reads of tasks name.
  DenseMap<Operation *, VariableOp> variables;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
