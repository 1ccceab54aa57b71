//===- VariableIndex.h - Variables by their purpose -------------*- C++ -*-===//
//
// Looks up a variable by its purpose, such as the step counter, the gradient of
// a parameter or the tensor of a data field. Passes find the variables of
// earlier passes in this way.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H
#define HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta {

/// The variables of a module or model, by purpose. Variables that are created
/// later must be added by `insert`.
class VariableIndex {
public:
  /// Makes an empty index.
  explicit VariableIndex(MLIRContext *context) : context(context) {}
  /// Indexes the variables of a module or an hfta.model.
  explicit VariableIndex(Operation *table);

  void insert(VariableOp variable);

  /// Returns the variable with this purpose, or null. If each copy has its own,
  /// returns the first one.
  VariableOp lookup(PurposeAttr purpose) const {
    return byPurpose.lookup(purpose);
  }
  VariableOp lookup(Purpose purpose, StringRef name = {}) const {
    return lookup(PurposeAttr::get(context, purpose, name));
  }
  /// Returns the variable with a purpose that refers to another variable, such
  /// as the gradient of `variable`, or null.
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
