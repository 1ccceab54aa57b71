//===- VariableIndex.h - Variables by their purpose -------------*- C++ -*-===//
//
// Finds the variables that passes have declared for each other: the step, the
// gradient of a parameter, the tensor of a data field.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H
#define HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta {

/// The variables of a module or model. It follows no changes but what `insert`
/// is told.
class VariableIndex {
public:
  /// Empty.
  explicit VariableIndex(MLIRContext *context) : context(context) {}
  /// Of a module or an hfta.model.
  explicit VariableIndex(Operation *table);

  void insert(VariableOp variable);

  /// Null where there is none. Of several copies' own variables, the first.
  VariableOp lookup(PurposeAttr purpose) const {
    return byPurpose.lookup(purpose);
  }
  VariableOp lookup(Purpose purpose, StringRef name = {}) const {
    return lookup(PurposeAttr::get(context, purpose, name));
  }
  /// What belongs to a variable: its gradient, its "momentum".
  VariableOp lookupOf(VariableOp variable, Purpose purpose,
                      StringRef name = {}) const {
    return lookup(PurposeAttr::getOf(
        FlatSymbolRefAttr::get(variable.getSymNameAttr()), purpose, name));
  }

private:
  MLIRContext *context;
  DenseMap<Attribute, VariableOp> byPurpose;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H
