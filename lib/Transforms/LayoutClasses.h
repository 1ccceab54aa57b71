//===- LayoutClasses.h - Tensors that are stored alike ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
#define HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H

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

/// The tensors of all tasks, between kernels and inside, in classes that have
/// one layout: what a kernel takes or gives and what it is inside, what one
/// elementwise op reads and writes, what a saved or cut variable holds. They
/// are the same however ops are grouped into kernels or tasks cut in blocks.
class LayoutClasses {
public:
  /// Of tasks whose ops are grouped into kernels.
  explicit LayoutClasses(ModuleOp module);

  /// Whether a tensor's class is stored with channels last, as far as it can
  /// be.
  bool isChannelsLast(Value value) const;
  /// Whether a variable is; not where only views read it.
  bool isChannelsLast(VariableOp variable) const;

private:
  void addTask(func::FuncOp task, const SymbolTable &symbols);
  void addKernel(KernelOp kernel);
  void addActivations(ActivationOpInterface op);
  unsigned getNumber(const void *tensor);
  void join(Value one, Value other);
  bool isChosen(const void *tensor) const;

  DenseMap<const void *, unsigned> numbers;
  llvm::IntEqClasses classes;
  /// Activations of ops that would have channels last.
  SmallVector<unsigned> votes;
  DenseSet<unsigned> chosen;
  /// Variables that are read, and whether by kernels.
  DenseMap<Operation *, bool> reads;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LAYOUTCLASSES_H
