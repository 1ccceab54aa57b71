//===- ParameterKinds.cpp - What a model's parameters are for -------------===//

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::hfta;

using UseRole = ParameterUse::Role;

static constexpr StringLiteral kGroupsAttrName = "hfta.parameter_groups";

void hfta::setParameterGroups(VariableOp variable, ArrayRef<int64_t> groups) {
  if (!groups.empty())
    variable->setAttr(kGroupsAttrName,
                      DenseI64ArrayAttr::get(variable.getContext(), groups));
}

ArrayRef<int64_t> hfta::getParameterGroups(VariableOp variable) {
  auto groups = variable->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttrName);
  return groups ? groups.asArrayRef() : ArrayRef<int64_t>();
}

ArrayRef<StringRef> hfta::getParameterKindNames() {
  static constexpr StringRef kNames[] = {
#define HFTA_PARAMETER_KIND(identifier, text) #identifier,
      HFTA_PARAMETER_KINDS
#undef HFTA_PARAMETER_KIND
  };
  return kNames;
}

std::optional<ParameterKind> hfta::findParameterKind(StringRef name) {
  ArrayRef<StringRef> names = getParameterKindNames();
  const auto *found = llvm::find(names, name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<ParameterKind>(found - names.begin());
}

ArrayRef<StringRef> hfta::getParameterKindTexts() {
  static constexpr StringRef kTexts[] = {
#define HFTA_PARAMETER_KIND(identifier, text) text,
      HFTA_PARAMETER_KINDS
#undef HFTA_PARAMETER_KIND
  };
  return kTexts;
}

static ParameterUse getUse(OpOperand &operand) {
  auto layer = dyn_cast<LayerOpInterface>(operand.getOwner());
  return layer ? layer.getParameterUse(operand.getOperandNumber())
               : ParameterUse();
}

/// Returns whether a value is the output of a normalization before its shift is
/// added: a product with the normalization's scale.
static bool isScaledByNorm(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, TransposeOp, CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && llvm::any_of(op->getOpOperands(), [](OpOperand &operand) {
           ParameterUse use = getUse(operand);
           return use.role == UseRole::weight && use.kind == LayerKind::norm;
         });
}

/// Notes one use of a parameter, or of a value that consists of its elements.
/// Adds values to `passed` through which its elements go on.
void ParameterKinds::followUse(VariableOp variable, OpOperand &operand,
                               SmallVectorImpl<Value> &passed) {
  Operation *op = operand.getOwner();
  ParameterUse use = getUse(operand);
  switch (use.role) {
  case UseRole::none:
    return;
  case UseRole::passed:
    passed.push_back(op->getResult(0));
    return;
  case UseRole::added: {
    // An op that is no sum is a whole normalization, of which this is an
    // operand of its own.
    bool isOfNorm =
        !isa<AddOp>(op) ||
        isScaledByNorm(op->getOperand(1 - operand.getOperandNumber()));
    add(variable, ParameterKind::biases);
    if (isOfNorm)
      add(variable, ParameterKind::norms);
    return;
  }
  case UseRole::weight:
    break;
  }
  switch (use.kind) {
  case LayerKind::dense:
    add(variable, ParameterKind::hidden);
    products[op].push_back(variable);
    return;
  case LayerKind::convolution:
  case LayerKind::transposed_convolution:
    add(variable, ParameterKind::convolutions);
    products[op].push_back(variable);
    return;
  case LayerKind::embedding:
    return add(variable, ParameterKind::embeddings);
  case LayerKind::norm:
    return add(variable, ParameterKind::norms);
  case LayerKind::other:
    return;
  }
}

void ParameterKinds::follow(VariableOp variable, Value value) {
  SmallVector<Value> worklist = {value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (seen.insert(next).second)
      for (OpOperand &use : next.getUses())
        followUse(variable, use, worklist);
  }
}

/// Marks the weights of the last products on all ways to these values.
void ParameterKinds::findOutputs(ArrayRef<Value> values) {
  SmallVector<Value> worklist(values);
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto product = products.find(op);
    if (product == products.end()) {
      llvm::append_range(worklist, op->getOperands());
      continue;
    }
    for (VariableOp variable : product->second)
      add(variable, ParameterKind::outputs);
  }
}

ParameterKinds::ParameterKinds(ModelOp model, ArrayRef<unsigned> outputs) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  SymbolTable symbols(model);
  for (auto read : forward.getOps<ReadOp>()) {
    auto variable = symbols.lookup<VariableOp>(read.getVariable());
    if (variable.getRole() == Role::parameter)
      follow(variable, read);
  }
  Operation *end = forward.getBody().front().getTerminator();
  findOutputs(llvm::map_to_vector(
      outputs, [&](unsigned output) { return end->getOperand(output); }));
  auto has = [&](unsigned bits, ParameterKind kind) {
    return (bits >> static_cast<unsigned>(kind) & 1) != 0;
  };
  auto without = [](unsigned &bits, ParameterKind kind) {
    bits &= ~(1u << static_cast<unsigned>(kind));
  };
  for (auto variable : model.getBody().getOps<VariableOp>()) {
    if (variable.getRole() != Role::parameter)
      continue;
    unsigned &bits = kinds[variable];
    bool isWeight = has(bits, ParameterKind::hidden) ||
                    has(bits, ParameterKind::convolutions) ||
                    has(bits, ParameterKind::embeddings);
    if (has(bits, ParameterKind::outputs) ||
        has(bits, ParameterKind::embeddings)) {
      without(bits, ParameterKind::hidden);
      without(bits, ParameterKind::convolutions);
    }
    ArrayRef<int64_t> shape = variable.getTensorType().getShape();
    auto axes =
        isWeight ? static_cast<int64_t>(shape.size())
                 : llvm::count_if(shape, [](int64_t size) { return size > 1; });
    if (axes <= 1)
      add(variable, ParameterKind::vectors);
  }
}
