//===- OptimizerUpdate.cpp - The op of updates, and parts of them ---------===//

#include "OptimizerUpdate.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Parts of formulas
//===----------------------------------------------------------------------===//

Expression OptimizerUpdate::norm(const Expression &tensor) const {
  Expression wide = tensor.to(Float64Type::get(Value(tensor).getContext()));
  auto rank = static_cast<int64_t>(wide.getShape().size());
  Expression squares = wide * wide;
  if (rank > 0)
    squares = squares.sum(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  return squares.apply<SqrtOp>();
}

void hfta::addPenaltyOrDecay(OptimizerUpdate &update) {
  if (update.has("decoupled_weight_decay"))
    decayWeights(update);
  else
    addPenalty(update);
}

void hfta::addPenalty(OptimizerUpdate &update) {
  update.gradient =
      update.gradient + update.filled("weight_decay") * update.parameter;
}

Expression hfta::approach(OptimizerUpdate &update, const Expression &mean) {
  return mean +
         update.fill(1.0 - update.scalar("beta1")) * (update.gradient - mean);
}

Expression hfta::addSquare(OptimizerUpdate &update, const Expression &mean,
                           StringRef decay, const Expression &gradient) {
  return mean * update.filled(decay) +
         update.fill(1.0 - update.scalar(decay)) * gradient * gradient;
}

Expression hfta::correct(OptimizerUpdate &update, StringRef beta) {
  Expression step = update.scalar("step") + 1.0;
  return 1.0 - update.scalar(beta).apply<PowOp>(step);
}

void hfta::decayWeights(OptimizerUpdate &update) {
  Expression rate = update.scalar("lr");
  Expression decay = update.scalar("weight_decay");
  update.parameter = update.parameter * update.fill(1.0 - rate * decay);
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

const OptimizerInfo &OptimizerUpdateOp::getInfo() {
  const OptimizerInfo *info = findOptimizer(getOptimizer());
  assert(info && "the op is verified");
  return *info;
}

SmallVector<StringRef> OptimizerUpdateOp::getGivenOptions() {
  return llvm::to_vector(getGiven().getAsValueRange<StringAttr>());
}

static ArrayRef<int64_t> getShapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

SmallVector<int64_t> hfta::getOutputAxes(OptimizerUpdateOp op) {
  if (std::optional<ArrayRef<int64_t>> axes = op.getOutputAxes())
    return llvm::to_vector(*axes);
  if (getShapeOf(op.getParameter()).empty())
    return {};
  return {0};
}

OperandRange OptimizerUpdateOp::getStates() {
  return getInputs().slice(
      2, getInfo()
             .getStates(getGivenOptions(), getShapeOf(getParameter()),
                        getOutputAxes().value_or(ArrayRef<int64_t>()))
             .size());
}

OperandRange OptimizerUpdateOp::getScalars() {
  return getInputs().drop_front(2 + getStates().size());
}

/// Infers the types and checks the op's constraints. (C1): the optimizer is
/// known; (C2): each given option is one of its flags or optional parameters;
/// (C3): the number of operands is right; (C4): the gradient has the
/// parameter's shape, states have the shapes that their records say, and the
/// other operands are scalars; (C5): the output axes are axes of the parameter,
/// ascending.
LogicalResult OptimizerUpdateOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  const OptimizerInfo *info = findOptimizer(adaptor.getOptimizer());
  if (!info)
    return emitOptionalError(location, "unknown optimizer '",
                             adaptor.getOptimizer(), "'");
  SmallVector<StringRef> given;
  for (Attribute attribute : adaptor.getGiven()) {
    given.push_back(cast<StringAttr>(attribute).getValue());
    if (!info->hasOption(given.back()))
      return emitOptionalError(location, "'", info->name, "' has no option '",
                               given.back(), "'");
  }
  ValueRange operands = adaptor.getOperands();
  if (operands.empty())
    return emitOptionalError(location, "'", info->name,
                             "' takes a parameter, got no operands");
  ArrayRef<int64_t> parameter = getShapeOf(operands.front());
  ArrayRef<int64_t> outputAxes =
      adaptor.getOutputAxes().value_or(ArrayRef<int64_t>());
  int64_t next = 0;
  for (int64_t axis : outputAxes) {
    if (axis < next || axis >= static_cast<int64_t>(parameter.size()))
      return emitOptionalError(location, "outputs [", outputAxes,
                               "] are not ascending axes of a parameter of ",
                               operands.front().getType());
    next = axis + 1;
  }
  SmallVector<SmallVector<int64_t>> shapes = {llvm::to_vector(parameter),
                                              llvm::to_vector(parameter)};
  for (const OptimizerState *state :
       info->getStates(given, parameter, outputAxes))
    shapes.push_back(*state->getShape(parameter, outputAxes));
  size_t tensors = shapes.size();
  shapes.resize(tensors + info->getScalars(given).size());
  if (operands.size() != shapes.size())
    return emitOptionalError(location, "'", info->name, "' takes ",
                             shapes.size(), " operands, got ", operands.size());
  std::optional<int64_t> copies = getCopies(TypeRange(operands));
  for (auto [index, operand, shape] : llvm::enumerate(operands, shapes)) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getShape() != ArrayRef(shape))
      return emitOptionalError(
          location, "operand #", index, " has the wrong shape: ", type,
          " for a parameter of ", operands.front().getType());
    if (index < tensors && index != 1)
      types.push_back(withCopies(type, copies));
  }
  return success();
}

/// Counts about a multiplication and an addition for the weight decay, for each
/// state, and for the step, per element, and the matrix products.
int64_t OptimizerUpdateOp::getFlops() {
  auto type = cast<RankedTensorType>(getParameter().getType());
  int64_t flops = 2 * (getStates().size() + 2) * type.getNumElements();
  if (auto *countProducts = getInfo().countProducts)
    flops += countProducts(getGivenOptions(), type.getShape(),
                           hfta::getOutputAxes(*this));
  return flops;
}

SmallVector<Value> OptimizerUpdateOp::decompose(OpBuilder &builder) {
  OptimizerUpdate update(*this, builder);
  getInfo().update(update);
  return giveResults(*this, builder, update.getResults());
}
