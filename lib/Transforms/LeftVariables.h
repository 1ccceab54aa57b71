//===- LeftVariables.h - Variables that tasks leave for others --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_LEFTVARIABLES_H
#define HFTA_LIB_TRANSFORMS_LEFTVARIABLES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// A variable in which one op saves a value for other tasks.
struct LeftVariable {
  VariableOp variable;
  WriteOp write;
  SmallVector<ReadOp> reads;
};

/// Collects the variables of role `saved`, and statistics of micro-batches,
/// that are written once, for all copies, with a value of their own type, and
/// not read copy by copy; in the order of the module.
SmallVector<LeftVariable> collectLeftVariables(ModuleOp module);

/// Whether a value is a parameter's, for all copies: nothing between a forward
/// and its backward changes it.
bool isParameter(Value value, const SymbolTable &symbols);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LEFTVARIABLES_H
