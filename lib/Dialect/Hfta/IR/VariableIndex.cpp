//===- VariableIndex.cpp - Variables by their purpose ---------------------===//

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"

using namespace mlir;
using namespace mlir::hfta;

VariableIndex::VariableIndex(Operation *table) : context(table->getContext()) {
  for (auto variable : table->getRegion(0).getOps<VariableOp>())
    insert(variable);
}

void VariableIndex::insert(VariableOp variable) {
  if (PurposeAttr purpose = variable.getPurposeAttr())
    byPurpose.try_emplace(purpose, variable);
}
