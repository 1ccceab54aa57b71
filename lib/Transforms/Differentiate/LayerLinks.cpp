//===- LayerLinks.cpp - From trained parameters to their layers -----------===//

#include "Differentiate/LayerLinks.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::hfta;

using UseRole = ParameterUse::Role;

static ParameterUse getParameterUse(OpOperand &operand) {
  auto layer = dyn_cast<LayerOpInterface>(operand.getOwner());
  return layer ? layer.getParameterUse(operand.getOperandNumber())
               : ParameterUse();
}

void LayerLinks::record(const OpBackward &backward) {
  gradients[backward.forward] = {backward.resultGradients.front(),
                                 llvm::to_vector(backward.operandGradients)};
}

/// Returns the uses through which a gradient flows back, in the order of their
/// ops. If `copy` is given, omits hfta.unstack ops of other copies.
SmallVector<OpOperand *>
LayerLinks::getUses(Value value, std::optional<int64_t> copy) const {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    auto found = gradients.find(use.getOwner());
    if (found == gradients.end() ||
        !found->second.operands[use.getOperandNumber()])
      continue;
    auto unstack = dyn_cast<UnstackOp>(use.getOwner());
    if (!unstack || !copy || static_cast<int64_t>(unstack.getCopy()) == *copy)
      uses.push_back(&use);
  }
  llvm::sort(uses, [](OpOperand *first, OpOperand *second) {
    return first->getOwner() == second->getOwner()
               ? first->getOperandNumber() < second->getOperandNumber()
               : first->getOwner()->isBeforeInBlock(second->getOwner());
  });
  return uses;
}

/// Follows a parameter to the ops of which it is a weight, and to its other
/// uses, and adds a link for each.
void LayerLinks::follow(const TrainedLeaf &leaf, Value parameter) {
  SmallVector<std::pair<Value, std::optional<int64_t>>> worklist = {
      {parameter, leaf.copy}};
  DenseSet<std::pair<OpOperand *, int64_t>> seen;
  while (!worklist.empty()) {
    auto [value, copy] = worklist.pop_back_val();
    for (OpOperand *operand : getUses(value, copy)) {
      if (!seen.insert({operand, copy.value_or(-1)}).second)
        continue;
      ParameterUse use = getParameterUse(*operand);
      // A layer whose input is computed from parameters alone doesn't have one
      // row per sample, but second-order methods average over samples.
      if (use.role == UseRole::weight &&
          !samples->isFromData(operand->getOwner()->getOperand(*use.input)))
        use = ParameterUse();
      if (use.role != UseRole::passed) {
        links.push_back({leaf, operand, use, copy});
        continue;
      }
      std::optional<int64_t> next = copy;
      if (auto unstack = dyn_cast<UnstackOp>(operand->getOwner()))
        next = unstack.getCopy();
      worklist.emplace_back(operand->getOwner()->getResult(0), next);
    }
  }
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// Returns the axes of a layer's output that its weight has too: those of
/// output features, not of rows. Returns nothing for kinds of layers whose bias
/// isn't like an additional column of the weight.
static std::optional<SmallVector<int64_t>> getColumns(const ParameterUse &use) {
  if (use.kind == LayerKind::convolution)
    return SmallVector<int64_t>{1};
  if (use.kind != LayerKind::dense)
    return std::nullopt;
  AffineMap output = cast<AffineMapAttr>(use.maps[1]).getValue();
  AffineMap weight = cast<AffineMapAttr>(use.maps[2]).getValue();
  SmallVector<int64_t> columns;
  for (auto [axis, result] : llvm::enumerate(output.getResults()))
    if (llvm::is_contained(weight.getResults(), result))
      columns.push_back(axis);
  return columns;
}

/// Maps axes to those of a reshaped value. Returns nothing if an axis isn't
/// kept.
static std::optional<SmallVector<int64_t>> reshapeAxes(ArrayRef<int64_t> axes,
                                                       ArrayRef<int64_t> from,
                                                       ArrayRef<int64_t> to) {
  SmallVector<int64_t> moved;
  for (int64_t axis : axes) {
    int64_t before = llvm::product_of(from.take_front(axis)), product = 1;
    std::optional<int64_t> found;
    for (auto [index, size] : llvm::enumerate(to)) {
      if (product == before && size == from[axis])
        found = index;
      product *= size;
    }
    if (!found)
      return std::nullopt;
    moved.push_back(*found);
  }
  return moved;
}

/// Maps axes of an op's operand to axes of its result. Returns nothing unless
/// the op only rearranges elements.
static std::optional<SmallVector<int64_t>>
passAxes(Operation *op, std::optional<SmallVector<int64_t>> axes) {
  if (!axes || isa<StackOp, UnstackOp, CastOp>(op))
    return axes;
  if (isa<ReshapeOp>(op))
    return reshapeAxes(*axes, getShape(op->getOperand(0)),
                       getShape(op->getResult(0)));
  auto transpose = dyn_cast<TransposeOp>(op);
  if (!transpose)
    return std::nullopt;
  SmallVector<int64_t> moved;
  for (auto [index, source] : llvm::enumerate(transpose.getPermutation()))
    if (llvm::is_contained(*axes, source))
      moved.push_back(index);
  return moved;
}

/// Returns the axes along which an operand of a sum isn't broadcast.
static SmallVector<int64_t> getVariedAxes(Value value) {
  // The first copy of a stack is enough: all copies are broadcast alike, or
  // each copy is traced on its own.
  while (isa_and_nonnull<CastOp, StackOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  SmallVector<int64_t> axes;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    for (auto [axis, size] :
         llvm::zip(broadcast.getDimensions(), getShape(broadcast.getInput())))
      if (size == getShape(value)[axis] && size != 1)
        axes.push_back(axis);
    return axes;
  }
  for (auto [axis, size] : llvm::enumerate(getShape(value)))
    if (size != 1)
      axes.push_back(axis);
  return axes;
}

static bool isSameAxes(ArrayRef<int64_t> first, ArrayRef<int64_t> second,
                       ArrayRef<int64_t> shape) {
  DenseSet<int64_t> left, right;
  for (int64_t axis : first)
    if (shape[axis] != 1)
      left.insert(axis);
  for (int64_t axis : second)
    if (shape[axis] != 1)
      right.insert(axis);
  return left == right;
}

/// Traces an operand of a sum or layer back to a parameter. Returns no bias if
/// other ops than those that pass elements on lie between.
LayerLinks::Bias
LayerLinks::traceBias(OpOperand &operand, std::optional<int64_t> copy,
                      std::optional<SmallVector<int64_t>> columns) const {
  Bias bias;
  Value value = operand.get();
  while (Operation *op = value.getDefiningOp()) {
    if (const auto *leaf = leaves.find(value); leaf != leaves.end()) {
      bias.operand = &operand;
      bias.variable = leaf->second.variable;
      bias.isColumn = columns && isSameAxes(getVariedAxes(operand.get()),
                                            *columns, getShape(operand.get()));
      return bias;
    }
    unsigned source = 0;
    if (auto stack = dyn_cast<StackOp>(op)) {
      bias.differs = !copy;
      if (bias.differs)
        return bias;
      source = *copy;
    } else if (auto unstack = dyn_cast<UnstackOp>(op)) {
      copy = unstack.getCopy();
    } else if (op->getNumOperands() != 1) {
      return bias;
    }
    if (getParameterUse(op->getOpOperand(source)).role != UseRole::passed)
      return bias;
    value = op->getOperand(source);
  }
  return bias;
}

/// Finds the parameter that is added to a layer's output, provided that the
/// output has no other use.
LayerLinks::Bias LayerLinks::findBias(const Link &link,
                                      std::optional<int64_t> copy) const {
  Operation *op = link.operand->getOwner();
  if (link.use.bias)
    return traceBias(op->getOpOperand(*link.use.bias), copy, std::nullopt);
  Bias none;
  if (link.use.kind == LayerKind::embedding)
    return none;
  std::optional<SmallVector<int64_t>> columns = getColumns(link.use);
  Value value = op->getResult(0);
  while (true) {
    SmallVector<OpOperand *> uses = getUses(value, copy);
    none.differs =
        !copy && !uses.empty() && llvm::all_of(uses, [](OpOperand *use) {
          return isa<UnstackOp>(use->getOwner());
        });
    if (none.differs || uses.size() != 1)
      return none;
    Operation *user = uses.front()->getOwner();
    ParameterUse use = getParameterUse(*uses.front());
    if (use.role == UseRole::added)
      return traceBias(user->getOpOperand(1 - uses.front()->getOperandNumber()),
                       copy, columns);
    if (use.role != UseRole::passed)
      return none;
    columns = passAxes(user, columns);
    value = user->getResult(0);
  }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void LayerLinks::remarkOn(const Link &link) const {
  Operation *op = link.operand->getOwner();
  std::string text =
      ("parameter '" + VariableOp(link.leaf.variable).getOwnName() +
       "' is no layer's weight here: second-order methods know only the "
       "gradient of its use by '" +
       op->getName().getStringRef() + "'")
          .str();
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("Layer").category("hfta-layers"))
      << text;
}

IntegerAttr LayerLinks::getSamples(Value value) {
  std::optional<int64_t> stride = samples->lookup(value);
  return stride ? tasks.getBuilder().getI64IntegerAttr(*stride) : IntegerAttr();
}

void LayerLinks::buildLayer(const Link &link, const Bias &bias) {
  OpBuilder &builder = tasks.getBuilder();
  Operation *op = link.operand->getOwner();
  unsigned number = link.operand->getOperandNumber();
  Operation *last = &*std::prev(builder.getInsertionPoint());
  const Gradients &known = gradients.find(op)->second;
  ParameterUse use = link.use;
  Value input;
  if (use.role == UseRole::weight)
    input = cast<LayerOpInterface>(op).buildLayerInput(builder, number);
  if (!input) {
    use = ParameterUse();
    if (remarks)
      remarkOn(link);
  }
  LayerOp::create(
      builder, op->getLoc(), use.kind,
      VariableOp(link.leaf.variable).getSymName(),
      link.copy ? builder.getI64IntegerAttr(*link.copy) : IntegerAttr(),
      bias.operand
          ? FlatSymbolRefAttr::get(VariableOp(bias.variable).getSymNameAttr())
          : FlatSymbolRefAttr(),
      input, known.result, known.operands[number], lossDivisor, lossTerms,
      bias.isColumn, input ? getSamples(input) : IntegerAttr(),
      getSamples(op->getResult(0)), use.maps, use.strides, use.dilations,
      use.padding, use.groups);
  if (bias.operand)
    told.insert({bias.operand, link.copy.value_or(-1)});
  callback(op, std::next(last->getIterator()));
}

/// Returns the link with its bias. If the biases of the copies are different
/// variables, returns a link and a bias for each copy.
SmallVector<std::pair<LayerLinks::Link, LayerLinks::Bias>>
LayerLinks::findBiases(Link link) const {
  Bias bias = findBias(link, link.copy);
  if (!bias.differs)
    return {{link, bias}};
  SmallVector<std::pair<Link, Bias>> all;
  for (int64_t copy = 0; copy < tasks.getJob().copies; ++copy) {
    link.copy = copy;
    all.push_back({link, findBias(link, copy)});
  }
  return all;
}

void LayerLinks::forEachBias(
    llvm::function_ref<void(VariableOp weight, VariableOp bias)> visit) const {
  for (const Link &link : links)
    if (link.use.role == UseRole::weight)
      for (auto &[ofCopy, bias] : findBiases(link))
        if (bias.operand)
          visit(link.leaf.variable, bias.variable);
}

/// Builds an hfta.layer for a parameter that is added to something other than a
/// layer's output, for all copies for which no layer names it as a bias.
void LayerLinks::buildShift(Link link) {
  auto isTold = [&](int64_t copy) {
    return told.contains({link.operand, copy});
  };
  if (isTold(-1) || (link.copy && isTold(*link.copy)))
    return;
  auto copies = llvm::seq<int64_t>(0, tasks.getJob().copies);
  if (link.copy || llvm::none_of(copies, isTold))
    return buildLayer(link, Bias());
  for (int64_t copy : copies) {
    link.copy = copy;
    if (!isTold(copy))
      buildLayer(link, Bias());
  }
}

/// Orders links by forward ops, then by operands and copies, then by names.
bool LayerLinks::isBefore(const Link &first, const Link &second) {
  Operation *one = first.operand->getOwner();
  Operation *other = second.operand->getOwner();
  if (one != other)
    return one->isBeforeInBlock(other);
  auto getKey = [](const Link &link) {
    return std::make_tuple(link.operand->getOperandNumber(),
                           link.copy.value_or(-1),
                           VariableOp(link.leaf.variable).getSymName());
  };
  return getKey(first) < getKey(second);
}

void LayerLinks::find() {
  samples.emplace(*tasks.getBuilder().getInsertionBlock(),
                  tasks.getJob().getMicroBatch());
  for (auto &[value, leaf] : leaves)
    follow(leaf, value);
  llvm::sort(links, isBefore);
}

void LayerLinks::build(
    llvm::function_ref<void(Operation *, Block::iterator)> take) {
  callback = take;
  for (const Link &link : links)
    if (link.use.role == UseRole::weight)
      for (auto &[ofCopy, bias] : findBiases(link))
        buildLayer(ofCopy, bias);
  for (const Link &link : links)
    if (link.use.role == UseRole::added)
      buildShift(link);
    else if (link.use.role == UseRole::none)
      buildLayer(link, Bias());
}
