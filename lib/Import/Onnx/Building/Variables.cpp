//===- Variables.cpp - Initializers as variables and constants ------------===//

#include "Building/ModelBuilder.h"

namespace mlir::hfta::onnx_import {

/// The most elements of an initial value, or of a constant, that is stored
/// inline. Larger tensors become resources of the module.
static constexpr int64_t kMostInlineInitial = 16;
static constexpr int64_t kMostInlineConstant = 4096;

VariableOp ModelBuilder::getVariable(const InitializerUse &use) {
  std::string symbol = names::getModelSymbol(use.variable);
  VariableOp &variable = variables[symbol];
  if (variable)
    return variable;
  Location location = reporter.getLocation(use.variable);
  bool isStatistics = use.kind == InitializerUse::Kind::statistics;
  FileTensor tensor = graph.initializers.find(use.initializer)->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forward);
  variable =
      VariableOp::create(builder, location, symbol, tensor.type,
                         isStatistics ? Role::statistics : Role::parameter);
  if (symbol != use.variable)
    variable.setKnownAs(use.variable);
  if (!omitsWeights)
    variable.setInitialAttr(
        makeElements(tensor, use.variable, kMostInlineInitial));
  if (!isStatistics)
    setTrainingRule(variable, trainingRules.lookup(use.variable));
  return variable;
}

VariableOp ModelBuilder::getScalar(Purpose purpose) {
  auto attribute = PurposeAttr::get(builder.getContext(), purpose);
  VariableOp &variable = variables[attribute.makeSymbol()];
  if (variable)
    return variable;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forward);
  variable =
      VariableOp::create(builder, reporter.getFileLocation(), attribute,
                         RankedTensorType::get({}, builder.getI64Type()));
  return variable;
}

VariableOp ModelBuilder::getStatistics(StringRef name) {
  auto use = graph.initializerUses.find(name);
  if (use == graph.initializerUses.end() ||
      use->second.kind != InitializerUse::Kind::statistics ||
      (use->second.isNode && !options.training))
    return VariableOp();
  return getVariable(use->second);
}

bool ModelBuilder::isFrozenStatistic(StringRef name) const {
  auto use = graph.initializerUses.find(name);
  return use != graph.initializerUses.end() && graph.frozenStatistics &&
         graph.frozenStatistics->contains(use->second.variable);
}

Value ModelBuilder::readVariable(VariableOp variable, Location location) {
  return ReadOp::create(builder, location, variable.getType(),
                        variable.getSymName(), IntegerAttr());
}

void ModelBuilder::writeVariable(VariableOp variable, Value value,
                                 Location location) {
  Type stored = variable.getTensorType().getElementType();
  if (getElementTypeOrSelf(value.getType()) != stored)
    value = CastOp::create(builder, location, value, stored);
  WriteOp::create(builder, location, value, variable.getSymName(),
                  IntegerAttr());
}

Value ModelBuilder::materialize(StringRef name, const InitializerUse &use) {
  Location location = reporter.getLocation(name);
  bool isConstant = use.kind == InitializerUse::Kind::constant ||
                    (use.kind == InitializerUse::Kind::number &&
                     !trainingRules.contains(use.variable));
  if (isConstant) {
    FileTensor tensor = graph.initializers.find(use.initializer)->second;
    return createConstant(makeElements(tensor, name, kMostInlineConstant),
                          location);
  }
  VariableOp variable = getVariable(use);
  // Initializers that share a variable also share the op that reads it.
  if (variable && use.variable != name &&
      use.kind != InitializerUse::Kind::statistics)
    if (Value shared = lookup(use.variable))
      return shared;
  return variable ? readVariable(variable, location) : Value();
}

} // namespace mlir::hfta::onnx_import
