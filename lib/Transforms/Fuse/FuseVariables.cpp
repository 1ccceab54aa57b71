//===- FuseVariables.cpp - One array's variables from N models ------------===//

#include "Fuse/FuseVariables.h"

#include "Fuse/AlignModels.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/StringSet.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Models and elements
//===----------------------------------------------------------------------===//

ArrayModels::ArrayModels(const Job &job, SmallVector<ModelOp> given)
    : job(job), models(std::move(given)), modelOfCopy(job.copies, 0) {
  for (auto [index, model] : llvm::enumerate(models))
    for (int64_t copy : model.getCopies())
      modelOfCopy[copy] = index;
}

Attribute ArrayModels::stackElements(ArrayRef<Attribute> perModel,
                                     RankedTensorType type) const {
  int64_t bytes = getLogicalBytes(type);
  std::vector<char> data;
  data.reserve(bytes * job.copies);
  for (size_t model : modelOfCopy) {
    Attribute attribute = perModel[model];
    ArrayRef<char> raw;
    bool splat = false;
    if (auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute)) {
      raw = dense.getRawData();
      splat = dense.isSplat();
    } else if (auto resource =
                   dyn_cast_or_null<DenseResourceElementsAttr>(attribute)) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        raw = blob->getData();
    }
    if (raw.empty() && bytes != 0)
      return nullptr;
    for (int64_t done = 0; done < bytes; done += raw.size())
      data.insert(data.end(), raw.begin(), raw.end());
    if (!splat && static_cast<int64_t>(raw.size()) != bytes)
      return nullptr;
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), job.copies);
  auto stackedType = RankedTensorType::get(shape, type.getElementType());
  // Bytecode is read from buffers that guarantee no larger alignment than this.
  return DenseResourceElementsAttr::get(
      stackedType, "stacked",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(data,
                                                    alignof(std::max_align_t)));
}

bool hfta::haveSameContents(Attribute first, Attribute other) {
  if (first == other)
    return true;
  auto mine = dyn_cast_or_null<DenseResourceElementsAttr>(first);
  auto theirs = dyn_cast_or_null<DenseResourceElementsAttr>(other);
  if (!mine || !theirs || mine.getType() != theirs.getType())
    return false;
  AsmResourceBlob *mineBlob = mine.getRawHandle().getBlob();
  AsmResourceBlob *theirBlob = theirs.getRawHandle().getBlob();
  return mineBlob && theirBlob && mineBlob->getData() == theirBlob->getData();
}

//===----------------------------------------------------------------------===//
// Common variables
//===----------------------------------------------------------------------===//

static Attribute getInitial(VariableOp variable) {
  return variable.getInitial().value_or(Attribute());
}

static bool isDrawn(Attribute initial) {
  return isa_and_nonnull<UniformAttr, NormalAttr>(initial);
}

SmallVector<VariableOp> VariableFuser::getVariables(ModelOp model) const {
  return llvm::to_vector(model.getBody().getOps<VariableOp>());
}

VariableOp VariableFuser::lookup(ModelOp model, StringRef name) const {
  return dyn_cast_or_null<VariableOp>(SymbolTable::lookupSymbolIn(model, name));
}

/// Describes how two variables of one name differ; empty if they may become
/// one.
static std::string describeDifference(VariableOp first, VariableOp other) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Attribute mine = getInitial(first), theirs = getInitial(other);
  bool drawn = isDrawn(mine) || isDrawn(theirs);
  if (other.getType() != first.getType() ||
      other.getRole() != first.getRole() ||
      other.getTrained() != first.getTrained())
    os << "is " << first.getType() << (first.getTrained() ? " (trained)" : "")
       << " against " << other.getType()
       << (other.getTrained() ? " (trained)" : "");
  else if (getParameterGroups(other) != getParameterGroups(first))
    os << "belongs to other groups of parameters";
  else if (getLayerDistance(other) != getLayerDistance(first))
    os << "has another place among the layers";
  else if (getOutputAxes(other) != getOutputAxes(first))
    os << "has its layer's outputs along other axes";
  else if (drawn && mine != theirs && isDrawn(mine) && isDrawn(theirs))
    os << "is drawn from " << mine << " against " << theirs;
  else if (mine != theirs && (drawn || !mine || !theirs))
    os << "starts from a file's weights in one model and from a seed in "
          "another";
  return text;
}

std::string VariableFuser::explain(StringRef name) const {
  VariableOp first;
  for (ModelOp model : array.getModels()) {
    VariableOp variable = lookup(model, name);
    if (!variable)
      return ("'" + name + "' is missing in another model").str();
    if (!first)
      first = variable;
    std::string difference = describeDifference(first, variable);
    if (!difference.empty())
      return ("'" + name + "' " + difference).str();
  }
  return ("'" + name + "' has another place in the order of variables").str();
}

/// Whether all models have this variable with equal properties. A run-time
/// scalar may be missing in some of them.
bool VariableFuser::agree(StringRef name) const {
  VariableOp first;
  for (ModelOp model : array.getModels()) {
    VariableOp variable = lookup(model, name);
    if (!first)
      first = variable;
    if (variable ? !describeDifference(first, variable).empty()
                 : first && first.getRole() != Role::scalar)
      return false;
  }
  return true;
}

bool VariableFuser::isScalar(StringRef name) const {
  return llvm::any_of(array.getModels(), [&](ModelOp model) {
    VariableOp variable = lookup(model, name);
    return variable && variable.getRole() == Role::scalar;
  });
}

/// Finds the common variables, which become the keys of `types`. Gradient norms
/// are added up in the order of the variables, so common variables must have
/// the same order in every model: those that are out of order are omitted.
void VariableFuser::findCommon() {
  SmallVector<VariableOp> first = getVariables(array.getModels().front());
  llvm::StringSet<> names;
  for (VariableOp variable : first)
    if (agree(variable.getSymName()))
      names.insert(variable.getSymName());
  for (ModelOp model : array.getModels()) {
    SmallVector<VariableOp> others = getVariables(model);
    llvm::StringSet<> kept;
    auto score = [&](size_t i, size_t j) -> uint32_t {
      return first[i].getSymName() == others[j].getSymName() &&
             names.contains(first[i].getSymName());
    };
    for (auto [i, j] : alignSequences(first.size(), others.size(), score))
      kept.insert(first[i].getSymName());
    for (const auto &entry : names)
      if (isScalar(entry.getKey()))
        kept.insert(entry.getKey());
    for (VariableOp variable : others)
      if (variable.getRole() == Role::scalar && agree(variable.getSymName()))
        kept.insert(variable.getSymName());
    names = std::move(kept);
  }
  for (const auto &entry : names)
    types[entry.getKey()] = {};
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

RankedTensorType VariableFuser::getFusedType(VariableOp variable,
                                             bool sameContents) const {
  RankedTensorType type = variable.getTensorType();
  bool shared = false;
  switch (variable.getRole()) {
  case Role::scalar:
    shared =
        variable.isFor(Purpose::step) || variable.isFor(Purpose::first_sample);
    break;
  case Role::parameter:
    shared = !variable.getTrained() && !isDrawn(getInitial(variable)) &&
             sameContents;
    break;
  case Role::constant:
    shared = sameContents;
    break;
  default:
    break;
  }
  return shared ? type : withCopies(type, array.getCopies());
}

void VariableFuser::declareCommon(VariableOp first) {
  SmallVector<Attribute> initial;
  bool same = true;
  for (ModelOp model : array.getModels()) {
    VariableOp variable = lookup(model, first.getSymName());
    initial.push_back(getInitial(variable ? variable : first));
    same &= haveSameContents(initial.front(), initial.back());
  }
  auto fused = cast<VariableOp>(builder.clone(*first));
  RankedTensorType type = getFusedType(first, same);
  fused.setType(type);
  if (!same)
    fused.setInitialAttr(array.stackElements(initial, first.getTensorType()));
  types[first.getSymName()] = type;
}

void VariableFuser::declareForCopies(ModelOp model, VariableOp variable) {
  for (int64_t copy : model.getCopies()) {
    auto own = cast<VariableOp>(builder.clone(*variable));
    own.makeOfCopy(copy);
    symbolsOfCopies[variable.getSymName()][copy] = own.getSymNameAttr();
  }
}

StringRef VariableFuser::getSymbolOfCopy(StringRef name, int64_t copy) const {
  return symbolsOfCopies.find(name)->second.lookup(copy).getValue();
}

LogicalResult hfta::checkNameOfCopy(Operation *place, StringRef what,
                                    StringRef name, int64_t copy,
                                    function_ref<bool(StringRef)> isCommon) {
  std::string own = VariableOp::getSymbolOfCopy(name, copy);
  if (!isCommon(own))
    return success();
  return place->emitError(what)
         << " '" << name << "' of copy " << copy << " would be called '" << own
         << "', as another one that all copies have: rename one of them";
}

LogicalResult VariableFuser::checkNames() {
  auto isAnyCommon = [&](StringRef name) { return isCommon(name); };
  for (ModelOp model : array.getModels())
    for (VariableOp variable : getVariables(model)) {
      StringRef name = variable.getSymName();
      if (isCommon(name))
        continue;
      for (int64_t copy : model.getCopies())
        if (failed(
                checkNameOfCopy(variable, "tensor", name, copy, isAnyCommon)))
          return failure();
    }
  return success();
}

/// Declares the variables so that those of each model keep their order: a
/// variable that isn't common comes after the common variable that it follows
/// in its model.
LogicalResult VariableFuser::fuse() {
  findCommon();
  if (failed(checkNames()))
    return failure();
  SmallVector<SmallVector<VariableOp>> variables;
  for (ModelOp model : array.getModels())
    variables.push_back(getVariables(model));
  SmallVector<size_t> next(variables.size(), 0);
  llvm::StringSet<> declared;
  // Declares a model's own variables up to its next common variable that isn't
  // declared yet. Run-time scalars have no order, and are declared on the way.
  auto declareOwn = [&](size_t model) {
    size_t &at = next[model];
    for (; at < variables[model].size(); ++at) {
      VariableOp variable = variables[model][at];
      StringRef name = variable.getSymName();
      if (!isCommon(name))
        declareForCopies(array.getModels()[model], variable);
      else if (variable.getRole() == Role::scalar &&
               declared.insert(name).second)
        declareCommon(variable);
      else if (!declared.contains(name))
        return;
    }
  };
  for (VariableOp variable : variables.front()) {
    StringRef name = variable.getSymName();
    for (size_t model = 0; model < variables.size(); ++model)
      declareOwn(model);
    if (isCommon(name) && declared.insert(name).second)
      declareCommon(variable);
  }
  for (size_t model = 0; model < variables.size(); ++model)
    declareOwn(model);
  return success();
}
