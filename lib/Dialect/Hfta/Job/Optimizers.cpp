//===- Optimizers.cpp - One record for each optimizer ---------------------===//
//
// An optimizer's record consists of its parameters, its states, and its update
// as a formula. The order of floating-point operations is PyTorch's, so that
// results differ from PyTorch's by rounding errors at most.
// docs/adding-a-setting.md explains how to add an optimizer.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

//===----------------------------------------------------------------------===//
// Building blocks of updates
//===----------------------------------------------------------------------===//

namespace mlir::hfta {

/// The operands of an update, by their names, and its results. Tensors have the
/// widest type of parameter and states; scalars are f64 until they are combined
/// with a tensor.
class OptimizerUpdate {
public:
  OptimizerUpdate(OptimizerUpdateOp op, OpBuilder &builder)
      : given(op.getGivenOptions()),
        parameter(builder, op.getLoc(), op.getParameter()),
        gradient(parameter.at(op.getGradient())),
        computeType(parameter.getElementType()) {
    for (Value state : op.getStates()) {
      Type type = getElementTypeOrSelf(state);
      if (type.getIntOrFloatBitWidth() > computeType.getIntOrFloatBitWidth())
        computeType = type;
    }
    const OptimizerInfo &info = op.getInfo();
    for (auto [state, value] :
         llvm::zip_equal(info.getStates(given), op.getStates()))
      states.push_back({state->name, parameter.at(value).to(computeType)});
    for (auto [name, value] :
         llvm::zip_equal(info.getScalars(given), op.getScalars()))
      scalars.push_back({name, parameter.at(value)});
    gradient = gradient.to(computeType);
    parameter = parameter.to(computeType);
  }

  /// Returns whether a flag is set or an optional parameter has a value.
  bool has(StringRef name) const { return llvm::is_contained(given, name); }
  Expression &state(StringRef name) { return find(states, name); }
  /// Returns a parameter or "step", as an f64 scalar. "lr" is the learning rate
  /// of the current step.
  Expression scalar(StringRef name) {
    const Expression &value = find(scalars, name);
    return value.to(Float64Type::get(Value(value).getContext()));
  }
  /// Broadcasts a scalar to the parameter's shape.
  Expression fill(const Expression &scalar) const {
    return scalar.to(computeType).fill(parameter.getShape());
  }
  Expression filled(StringRef name) { return fill(scalar(name)); }

  /// Returns the new parameter and then the new states, in the order of the
  /// op's results.
  SmallVector<Expression> getResults() const {
    SmallVector<Expression> results = {parameter};
    for (const Named &state : states)
      results.push_back(state.value);
    return results;
  }

private:
  struct Named {
    StringRef name;
    Expression value;
  };
  static Expression &find(SmallVectorImpl<Named> &values, StringRef name) {
    for (Named &named : values)
      if (named.name == name)
        return named.value;
    llvm_unreachable("an update reads what its record doesn't name");
  }

  SmallVector<StringRef> given;

public:
  Expression parameter;
  Expression gradient;

private:
  Type computeType;
  SmallVector<Named> states, scalars;
};

} // namespace mlir::hfta

//===----------------------------------------------------------------------===//
// Stochastic gradient descent
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kRate = {"lr", NumberRange::nonNegative(), 1e-3};
static constexpr ParameterInfo kWeightDecay = {"weight_decay",
                                               NumberRange::nonNegative(), 0};
static constexpr ParameterInfo kBeta1 = {"beta1", NumberRange::belowOne(), 0.9};
static constexpr ParameterInfo kEps = {"eps", NumberRange::nonNegative(), 1e-8};

static constexpr ParameterInfo kSgdParameters[] = {
    kRate,
    {"momentum", NumberRange::nonNegative(), 0},
    kWeightDecay,
    {"nesterov", NumberRange::any(), {}, Kind::flag, "momentum"}};
static constexpr OptimizerState kSgdStates[] = {{"velocity"}};

/// Updates as PyTorch's SGD with dampening 0.
static void updateSgd(OptimizerUpdate &update) {
  Expression momentum = update.filled("momentum");
  Expression gradient =
      update.gradient + update.filled("weight_decay") * update.parameter;
  Expression velocity = update.state("velocity") * momentum + gradient;
  Expression direction =
      update.has("nesterov") ? gradient + momentum * velocity : velocity;
  update.state("velocity") = velocity;
  update.parameter =
      update.parameter + update.fill(-update.scalar("lr")) * direction;
}

//===----------------------------------------------------------------------===//
// Adam and AdamW
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kAdamParameters[] = {
    kRate,
    kBeta1,
    {"beta2", NumberRange::belowOne(), 0.999},
    kEps,
    kWeightDecay};
static constexpr ParameterInfo kAdamWParameters[] = {
    kRate,
    kBeta1,
    {"beta2", NumberRange::belowOne(), 0.999},
    kEps,
    {"weight_decay", NumberRange::nonNegative(), 1e-2}};
static constexpr OptimizerState kAdamStates[] = {{"first_moment"},
                                                 {"second_moment"}};

/// Applies decoupled weight decay: shrinks the parameter directly, not through
/// the gradient.
static void decayWeights(OptimizerUpdate &update) {
  Expression rate = update.scalar("lr");
  Expression decay = update.scalar("weight_decay");
  update.parameter = update.parameter * update.fill(1.0 - rate * decay);
}

/// Applies Adam's update to the parameter, which has been decayed if it is to
/// be (D. Kingma, J. Ba, "Adam", ICLR 2015).
static void moveByMoments(OptimizerUpdate &update) {
  Expression rate = update.scalar("lr");
  Expression beta1 = update.scalar("beta1");
  Expression beta2 = update.scalar("beta2");
  Expression step = update.scalar("step") + 1.0;
  Expression &first = update.state("first_moment");
  Expression &second = update.state("second_moment");
  first = first + update.fill(1.0 - beta1) * (update.gradient - first);
  second = second * update.fill(beta2) +
           update.fill(1.0 - beta2) * update.gradient * update.gradient;

  Expression stepSize = rate / (1.0 - beta1.apply<PowOp>(step));
  Expression correction = (1.0 - beta2.apply<PowOp>(step)).apply<SqrtOp>();
  Expression denominator =
      second.apply<SqrtOp>() / update.fill(correction) + update.filled("eps");
  update.parameter =
      update.parameter + update.fill(-stepSize) * first / denominator;
}

static void updateAdam(OptimizerUpdate &update) {
  update.gradient =
      update.gradient + update.filled("weight_decay") * update.parameter;
  moveByMoments(update);
}

/// Updates as AdamW (I. Loshchilov, F. Hutter, ICLR 2019).
static void updateAdamW(OptimizerUpdate &update) {
  decayWeights(update);
  moveByMoments(update);
}

//===----------------------------------------------------------------------===//
// RMSprop
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kRmspropParameters[] = {
    {"lr", NumberRange::nonNegative(), 1e-2},
    {"alpha", NumberRange::belowOne(), 0.99},
    kEps,
    kWeightDecay,
    {"momentum", NumberRange::nonNegative(), {}, Kind::optional},
    {"centered", NumberRange::any(), {}, Kind::flag}};
static constexpr OptimizerState kRmspropStates[] = {
    {"square_average"},
    {"gradient_average", 0, /*onlyWith=*/"centered"},
    {"momentum_buffer", 0, /*onlyWith=*/"momentum"}};

/// Updates as PyTorch's RMSprop (T. Tieleman, G. Hinton, lecture 6.5 of "Neural
/// networks for machine learning", 2012; centered as by A. Graves, 2013).
static void updateRmsprop(OptimizerUpdate &update) {
  Expression alpha = update.filled("alpha");
  Expression rest = update.fill(1.0 - update.scalar("alpha"));
  Expression gradient =
      update.gradient + update.filled("weight_decay") * update.parameter;
  Expression &squares = update.state("square_average");
  squares = squares * alpha + rest * gradient * gradient;
  Expression variance = squares;
  if (update.has("centered")) {
    Expression &mean = update.state("gradient_average");
    mean = mean + rest * (gradient - mean);
    variance = squares - mean * mean;
  }
  Expression direction =
      gradient / (variance.apply<SqrtOp>() + update.filled("eps"));
  if (update.has("momentum")) {
    Expression &buffer = update.state("momentum_buffer");
    buffer = buffer * update.filled("momentum") + direction;
    direction = buffer;
  }
  update.parameter =
      update.parameter + update.fill(-update.scalar("lr")) * direction;
}

//===----------------------------------------------------------------------===//
// Lion
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kLionParameters[] = {
    {"lr", NumberRange::nonNegative(), 1e-4},
    kBeta1,
    {"beta2", NumberRange::belowOne(), 0.99},
    kWeightDecay};
static constexpr OptimizerState kLionStates[] = {{"momentum"}};

/// Updates as Lion (X. Chen et al., "Symbolic discovery of optimization
/// algorithms", 2023).
static void updateLion(OptimizerUpdate &update) {
  decayWeights(update);
  Expression &momentum = update.state("momentum");
  auto interpolate = [&](StringRef beta) {
    return momentum * update.filled(beta) +
           update.fill(1.0 - update.scalar(beta)) * update.gradient;
  };
  Expression direction = interpolate("beta1").apply<SignOp>();
  momentum = interpolate("beta2");
  update.parameter =
      update.parameter + update.fill(-update.scalar("lr")) * direction;
}

//===----------------------------------------------------------------------===//
// The table of optimizers
//===----------------------------------------------------------------------===//

static constexpr OptimizerInfo kOptimizers[] = {
    {"sgd", kSgdParameters, kSgdStates, /*usesStep=*/false, updateSgd,
     "stochastic gradient descent; `weight_decay` is an L2 penalty"},
    {"adam", kAdamParameters, kAdamStates, /*usesStep=*/true, updateAdam,
     "Adam; `weight_decay` is an L2 penalty, added to the gradient"},
    {"adamw", kAdamWParameters, kAdamStates, /*usesStep=*/true, updateAdamW,
     "Adam with decoupled weight decay"},
    {"rmsprop", kRmspropParameters, kRmspropStates, /*usesStep=*/false,
     updateRmsprop,
     "divides the gradient by the root of its running mean square, or, with "
     "`centered = true`, of its running variance; `weight_decay` is an L2 "
     "penalty; there is a momentum buffer only if `momentum` is given"},
    {"lion", kLionParameters, kLionStates, /*usesStep=*/false, updateLion,
     "each step is the learning rate times the sign of a weighted mean of "
     "gradient and momentum; decoupled weight decay"},
};

ArrayRef<OptimizerInfo> hfta::getOptimizers() { return kOptimizers; }

const OptimizerInfo *hfta::findOptimizer(StringRef name) {
  return findByName(getOptimizers(), name);
}

SmallVector<const OptimizerState *>
OptimizerInfo::getStates(ArrayRef<StringRef> given) const {
  SmallVector<const OptimizerState *> present;
  for (const OptimizerState &state : states)
    if (state.onlyWith.empty() || llvm::is_contained(given, state.onlyWith))
      present.push_back(&state);
  return present;
}

SmallVector<StringRef>
OptimizerInfo::getScalars(ArrayRef<StringRef> given) const {
  SmallVector<StringRef> names;
  for (const ParameterInfo &parameter : parameters)
    if (parameter.kind != Kind::flag &&
        (parameter.kind != Kind::optional ||
         llvm::is_contained(given, parameter.name)))
      names.push_back(parameter.name);
  if (usesStep)
    names.push_back("step");
  return names;
}

SmallVector<StringRef> hfta::getGivenOptions(const Job &job) {
  SmallVector<StringRef> given;
  const OptimizerInfo *optimizer = findOptimizer(job.optimizer);
  if (!optimizer)
    return given;
  for (const ParameterInfo &parameter : optimizer->parameters)
    if (parameter.kind == Kind::flag
            ? llvm::is_contained(job.optimizerFlags, parameter.name.str())
            : parameter.kind == Kind::optional &&
                  job.findHyperParameter(parameter.name))
      given.push_back(parameter.name);
  return given;
}

std::string hfta::describeStates(const Job &job) {
  std::string text = job.optimizer;
  const OptimizerInfo *optimizer = findOptimizer(job.optimizer);
  if (!optimizer)
    return text;
  for (const OptimizerState *state : optimizer->getStates(getGivenOptions(job)))
    if (!state->onlyWith.empty())
      text += " " + state->onlyWith.str();
  if (!job.lossScale.empty())
    text += " loss_scale";
  if (job.preconditioner.empty())
    return text;
  text += " " + job.preconditioner + " " + job.kfacMethod + " others " +
          job.kfacOthers + " embedding " + job.kfacEmbedding + " block " +
          std::to_string(job.kfacBlock) + " in " + job.getInversionType();
  for (const std::string &pattern : job.kfacExclude)
    text += " without " + pattern;
  return text;
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

OperandRange OptimizerUpdateOp::getStates() {
  return getInputs().slice(2, getInfo().getStates(getGivenOptions()).size());
}

OperandRange OptimizerUpdateOp::getScalars() {
  return getInputs().drop_front(2 +
                                getInfo().getStates(getGivenOptions()).size());
}

/// Infers the types and checks the op's constraints. (C1): the optimizer is
/// known; (C2): each given option is one of its flags or optional parameters;
/// (C3): the number of operands is right; (C4): tensors have the parameter's
/// shape, and the other operands are scalars.
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
    const ParameterInfo *known = findByName(info->parameters, given.back());
    if (!known || (known->kind != Kind::flag && known->kind != Kind::optional))
      return emitOptionalError(location, "'", info->name, "' has no option '",
                               given.back(), "'");
  }
  size_t tensors = 2 + info->getStates(given).size();
  size_t expected = tensors + info->getScalars(given).size();
  ValueRange operands = adaptor.getOperands();
  if (operands.size() != expected)
    return emitOptionalError(location, "'", info->name, "' takes ", expected,
                             " operands, got ", operands.size());
  std::optional<int64_t> copies = getCopies(TypeRange(operands));
  ArrayRef<int64_t> parameterShape =
      cast<RankedTensorType>(operands.front().getType()).getShape();
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = cast<RankedTensorType>(operand.getType());
    bool isTensor = index < tensors;
    if (isTensor ? type.getShape() != parameterShape : type.getRank() != 0)
      return emitOptionalError(
          location, "operand #", index, " has the wrong shape: ", type,
          " for a parameter of ", operands.front().getType());
    if (isTensor && index != 1)
      types.push_back(withCopies(type, copies));
  }
  return success();
}

SmallVector<Value> OptimizerUpdateOp::decompose(OpBuilder &builder) {
  OptimizerUpdate update(*this, builder);
  getInfo().update(update);
  return giveResults(*this, builder, update.getResults());
}
