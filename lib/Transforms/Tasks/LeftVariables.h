//===- LeftVariables.h - Variables that tasks pass on -----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_LEFTVARIABLES_H
#define HFTA_LIB_TRANSFORMS_TASKS_LEFTVARIABLES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// A variable in which one op saves a value for other tasks.
struct LeftVariable {
  VariableOp variable;
  WriteOp write;
  SmallVector<ReadOp> reads;
};

/// Collects the variables of role `saved`, and batch statistics, that are
/// written once, for all copies, with a value of their own type, and aren't
/// read copy by copy. They are in the order of the module.
SmallVector<LeftVariable> collectLeftVariables(ModuleOp module);

/// Returns whether a value is read from a parameter, for all copies. Nothing
/// changes parameters between a forward and its backward.
bool isParameter(Value value, const SymbolTable &symbols);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_LEFTVARIABLES_H
