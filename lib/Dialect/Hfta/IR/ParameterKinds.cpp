//===- ParameterKinds.cpp - What a model's parameters are for -------------===//

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::hfta;

using UseRole = ParameterUse::Role;

static constexpr StringLiteral kGroupsAttrName = "hfta.parameter_groups";
static constexpr StringLiteral kDistanceAttrName = "hfta.layer_distance";
static constexpr StringLiteral kOutputAxesAttrName = "hfta.output_axes";

void hfta::setParameterGroups(VariableOp variable, ArrayRef<int64_t> groups) {
  if (!groups.empty())
    variable->setAttr(kGroupsAttrName,
                      DenseI64ArrayAttr::get(variable.getContext(), groups));
}

ArrayRef<int64_t> hfta::getParameterGroups(VariableOp variable) {
  auto groups = variable->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttrName);
  return groups ? groups.asArrayRef() : ArrayRef<int64_t>();
}

const ParameterGroup *hfta::findGroupWith(const Job &job, VariableOp variable,
                                          StringRef number) {
  for (int64_t index : llvm::reverse(getParameterGroups(variable))) {
    const ParameterGroup &group = job.groupsOfParameters[index];
    if (llvm::is_contained(group.numbers, number))
      return &group;
  }
  return nullptr;
}

void hfta::setLayerDistance(VariableOp variable, int64_t distance) {
  if (distance != 0)
    variable->setAttr(
        kDistanceAttrName,
        Builder(variable.getContext()).getI64IntegerAttr(distance));
}

int64_t hfta::getLayerDistance(VariableOp variable) {
  auto distance = variable->getAttrOfType<IntegerAttr>(kDistanceAttrName);
  return distance ? distance.getInt() : 0;
}

void hfta::setOutputAxes(VariableOp variable, ArrayRef<int64_t> axes) {
  if (!axes.empty())
    variable->setAttr(kOutputAxesAttrName,
                      DenseI64ArrayAttr::get(variable.getContext(), axes));
}

ArrayRef<int64_t> hfta::getOutputAxes(VariableOp variable) {
  auto axes = variable->getAttrOfType<DenseI64ArrayAttr>(kOutputAxesAttrName);
  return axes ? axes.asArrayRef() : ArrayRef<int64_t>();
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

using Origins = SmallVector<SmallVector<int64_t, 1>>;

/// Returns the axes from which the axes of a reshaped value come. Axes are
/// joined and split in row-major order; each part of a split axis comes from
/// the whole one.
static Origins reshapeOrigins(const Origins &origins, ArrayRef<int64_t> from,
                              ArrayRef<int64_t> to) {
  Origins result(to.size());
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstIn = i, firstOut = j;
    int64_t in = from[i++], out = to[j++];
    while (in != out && (in < out ? i < from.size() : j < to.size()))
      (in < out ? in : out) *= in < out ? from[i++] : to[j++];
    for (size_t axis = firstOut; axis < j; ++axis)
      for (size_t source = firstIn; source < i; ++source)
        if (from[source] > 1 && to[axis] > 1)
          llvm::append_range(result[axis], origins[source]);
  }
  return result;
}

/// Returns the axes of a parameter from which the axes of the op's result come,
/// where the op passes the parameter on; `origins` are those of its operand.
/// Where this isn't known, they are empty.
static Origins passOrigins(Operation *op, Value operand,
                           const Origins &origins) {
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  Origins result(shape.size());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshapeOrigins(origins, getShape(operand), shape);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [place, axis] : llvm::enumerate(transpose.getPermutation()))
      result[place] = origins[axis];
    return result;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [axis, place] : llvm::enumerate(broadcast.getDimensions()))
      result[place] = origins[axis];
    return result;
  }
  return shape.size() == origins.size() ? origins : result;
}

/// Returns the axes of a weight, an operand of an op, that number the outputs
/// of its layer.
static SmallVector<int64_t> findOutputAxes(OpOperand &operand,
                                           const ParameterUse &use) {
  if (use.kind == LayerKind::transposed_convolution)
    return {1};
  if (use.kind != LayerKind::dense)
    return {0};
  // Axes that the result has number outputs, or separate products.
  auto weight = cast<AffineMapAttr>(use.maps[2]).getValue();
  auto result = cast<AffineMapAttr>(use.maps[1]).getValue();
  SmallVector<int64_t> axes;
  for (auto [axis, dimension] : llvm::enumerate(weight.getResults()))
    if (llvm::is_contained(result.getResults(), dimension))
      axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

/// Notes the outputs of the first layer of which a parameter is the weight.
void ParameterKinds::noteOutputs(VariableOp variable, OpOperand &operand,
                                 const Passed &value) {
  SmallVector<int64_t> axes;
  for (int64_t axis : findOutputAxes(operand, getUse(operand)))
    llvm::append_range(axes, value.origins[axis]);
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  outputAxes.try_emplace(variable, axes);
}

SmallVector<int64_t> ParameterKinds::getOutputAxes(VariableOp variable) const {
  auto rank = variable.getTensorType().getRank();
  if (has(variable, ParameterKind::vectors) || rank == 0)
    return {};
  auto known = outputAxes.find(variable);
  return known == outputAxes.end() ? SmallVector<int64_t>{0} : known->second;
}

/// Notes one use of a parameter, or of a value that consists of its elements.
/// Adds values to `passed` through which its elements go on.
void ParameterKinds::followUse(VariableOp variable, OpOperand &operand,
                               const Passed &value,
                               SmallVectorImpl<Passed> &passed) {
  Operation *op = operand.getOwner();
  ParameterUse use = getUse(operand);
  switch (use.role) {
  case UseRole::none:
    return;
  case UseRole::passed:
    passed.push_back(
        {op->getResult(0), passOrigins(op, value.value, value.origins)});
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
    noteOutputs(variable, operand, value);
    products[op].push_back(variable);
    return;
  case LayerKind::convolution:
  case LayerKind::transposed_convolution:
    add(variable, ParameterKind::convolutions);
    noteOutputs(variable, operand, value);
    products[op].push_back(variable);
    return;
  case LayerKind::embedding:
    noteOutputs(variable, operand, value);
    return add(variable, ParameterKind::embeddings);
  case LayerKind::norm:
    return add(variable, ParameterKind::norms);
  case LayerKind::other:
    return;
  }
}

void ParameterKinds::follow(VariableOp variable, Value value) {
  Origins origins;
  for (int64_t axis = 0; axis < variable.getTensorType().getRank(); ++axis)
    origins.push_back({axis});
  SmallVector<Passed> worklist = {{value, origins}};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Passed next = worklist.pop_back_val();
    if (seen.insert(next.value).second)
      for (OpOperand &use : next.value.getUses())
        followUse(variable, use, next, worklist);
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
