//===- VariableIndex.h - Variables by their purpose -------------*- C++ -*-===//
//
// Looks up a variable by its purpose, so that a pass finds what an earlier pass
// has declared: the step counter, the gradient of a parameter, the tensor of a
// data field.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H
#define HFTA_DIALECT_HFTA_IR_VARIABLEINDEX_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta {

/// The variables of a module or model, by purpose. It doesn't follow changes of
/// the module, except those reported by `insert`.
class VariableIndex {
public:
  /// Makes an empty index.
  explicit VariableIndex(MLIRContext *context) : context(context) {}
  /// Indexes the variables of a module or an hfta.model.
  explicit VariableIndex(Operation *table);

  void insert(VariableOp variable);

  /// Returns the variable of a purpose; null if there is none. If each copy has
  /// its own, returns the first.
  VariableOp lookup(PurposeAttr purpose) const {
    return byPurpose.lookup(purpose);
  }
  VariableOp lookup(Purpose purpose, StringRef name = {}) const {
    return lookup(PurposeAttr::get(context, purpose, name));
  }
  /// Returns the variable that belongs to another one: its gradient, its
  /// "momentum".
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
