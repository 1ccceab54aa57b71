//===- Turns.cpp - Networks that take turns -------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Turns.h"

using namespace mlir;
using namespace mlir::hfta;

/// On a variable: the name of the turn that updates it.
static constexpr StringLiteral kTurnAttrName = "hfta.turn";
/// On a variable: inference and export don't use its network.
static constexpr StringLiteral kUnservedAttrName = "hfta.unserved";

func::FuncOp hfta::getServed(ModelOp model) {
  if (auto served = model.lookupSymbol<func::FuncOp>(kServedName))
    return served;
  return model.lookupSymbol<func::FuncOp>("forward");
}

void hfta::setTurn(VariableOp variable, StringRef name) {
  variable->setAttr(kTurnAttrName,
                    StringAttr::get(variable.getContext(), name));
}

StringRef hfta::getTurn(VariableOp variable) {
  auto name = variable->getAttrOfType<StringAttr>(kTurnAttrName);
  return name ? name.getValue() : StringRef();
}

void hfta::setUnserved(VariableOp variable) {
  variable->setAttr(kUnservedAttrName, UnitAttr::get(variable.getContext()));
}

bool hfta::isServed(VariableOp variable) {
  return !variable->hasAttr(kUnservedAttrName);
}
