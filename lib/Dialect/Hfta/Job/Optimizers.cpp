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
static constexpr ParameterInfo kBeta2 = {"beta2", NumberRange::belowOne(),
                                         0.999};
static constexpr ParameterInfo kAmsgrad = {
    "amsgrad", NumberRange::any(), {}, Kind::flag};
static constexpr ParameterInfo kDecoupled = {
    "decoupled_weight_decay", NumberRange::any(), {}, Kind::flag};
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
    kRate, kBeta1, kBeta2, kEps, kWeightDecay, kAmsgrad};
static constexpr ParameterInfo kAdamWParameters[] = {
    kRate,
    kBeta1,
    kBeta2,
    kEps,
    {"weight_decay", NumberRange::nonNegative(), 1e-2},
    kAmsgrad};
static constexpr OptimizerState kAdamStates[] = {
    {"first_moment"},
    {"second_moment"},
    {"largest_second_moment", 0, /*onlyWith=*/"amsgrad"}};

/// Adds the penalty `weight_decay` to the gradient.
static void addPenalty(OptimizerUpdate &update) {
  update.gradient =
      update.gradient + update.filled("weight_decay") * update.parameter;
}

/// Moves a running mean towards the gradient, as PyTorch's `lerp`.
static Expression approach(OptimizerUpdate &update, const Expression &mean) {
  return mean +
         update.fill(1.0 - update.scalar("beta1")) * (update.gradient - mean);
}

/// Returns the running mean of squares after the one of another gradient.
static Expression addSquare(OptimizerUpdate &update, const Expression &mean,
                            StringRef decay, const Expression &gradient) {
  return mean * update.filled(decay) +
         update.fill(1.0 - update.scalar(decay)) * gradient * gradient;
}

/// Returns 1 - beta^t, with which a running mean is divided after t steps.
static Expression correct(OptimizerUpdate &update, StringRef beta) {
  Expression step = update.scalar("step") + 1.0;
  return 1.0 - update.scalar(beta).apply<PowOp>(step);
}

/// Applies decoupled weight decay: shrinks the parameter directly, not through
/// the gradient.
static void decayWeights(OptimizerUpdate &update) {
  Expression rate = update.scalar("lr");
  Expression decay = update.scalar("weight_decay");
  update.parameter = update.parameter * update.fill(1.0 - rate * decay);
}

/// Applies Adam's update to the parameter, which has been decayed if it is to
/// be (D. Kingma, J. Ba, "Adam", ICLR 2015; amsgrad: S. Reddi et al., "On the
/// convergence of Adam and beyond", ICLR 2018).
static void moveByMoments(OptimizerUpdate &update) {
  Expression &first = update.state("first_moment");
  Expression &second = update.state("second_moment");
  first = approach(update, first);
  second = addSquare(update, second, "beta2", update.gradient);
  Expression variance = second;
  if (update.has("amsgrad")) {
    Expression &largest = update.state("largest_second_moment");
    largest = largest.apply<MaxOp>(second);
    variance = largest;
  }

  Expression stepSize = update.scalar("lr") / correct(update, "beta1");
  Expression correction = correct(update, "beta2").apply<SqrtOp>();
  Expression denominator =
      variance.apply<SqrtOp>() / update.fill(correction) + update.filled("eps");
  update.parameter =
      update.parameter + update.fill(-stepSize) * first / denominator;
}

static void updateAdam(OptimizerUpdate &update) {
  addPenalty(update);
  moveByMoments(update);
}

/// Updates as AdamW (I. Loshchilov, F. Hutter, ICLR 2019).
static void updateAdamW(OptimizerUpdate &update) {
  decayWeights(update);
  moveByMoments(update);
}

//===----------------------------------------------------------------------===//
// Adamax and RAdam
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kAdamaxParameters[] = {
    {"lr", NumberRange::nonNegative(), 2e-3},
    kBeta1,
    kBeta2,
    kEps,
    kWeightDecay};
static constexpr OptimizerState kAdamaxStates[] = {{"first_moment"},
                                                   {"largest_gradient"}};

/// Updates as Adamax, with Adam's moment in the infinity norm (D. Kingma,
/// J. Ba, section 7.1). `eps` is added within the maximum.
static void updateAdamax(OptimizerUpdate &update) {
  addPenalty(update);
  Expression &first = update.state("first_moment");
  Expression &largest = update.state("largest_gradient");
  first = approach(update, first);
  Expression size = update.gradient.apply<AbsOp>() + update.filled("eps");
  largest = (largest * update.filled("beta2")).apply<MaxOp>(size);
  Expression stepSize = update.scalar("lr") / correct(update, "beta1");
  update.parameter =
      update.parameter + update.fill(-stepSize) * first / largest;
}

static constexpr ParameterInfo kRadamParameters[] = {
    kRate, kBeta1, kBeta2, kEps, kWeightDecay, kDecoupled};
static constexpr OptimizerState kRadamStates[] = {{"first_moment"},
                                                  {"second_moment"}};

/// Updates as RAdam (L. Liu et al., "On the variance of the adaptive learning
/// rate and beyond", ICLR 2020): without the second moment as long as its
/// variance is unknown, which is while the length `rho` of its running mean is
/// at most 5.
static void updateRadam(OptimizerUpdate &update) {
  if (update.has("decoupled_weight_decay"))
    decayWeights(update);
  else
    addPenalty(update);
  Expression &first = update.state("first_moment");
  Expression &second = update.state("second_moment");
  first = approach(update, first);
  second = addSquare(update, second, "beta2", update.gradient);

  Expression step = update.scalar("step") + 1.0;
  Expression beta2 = update.scalar("beta2");
  Expression correction = correct(update, "beta2");
  Expression limit = 2.0 / (1.0 - beta2) - 1.0;
  Expression rho = limit - 2.0 * step * beta2.apply<PowOp>(step) / correction;
  Expression isLong = rho.compare(ComparePredicate::greater, 5.0);
  // The square is negative, or divided by 0, only where it isn't used.
  Expression square =
      (rho - 4.0) * (rho - 2.0) * limit / ((limit - 4.0) * (limit - 2.0) * rho);
  Expression rectified = isLong.select(square, 1.0).apply<SqrtOp>();
  Expression adaptive = update.fill(correction.apply<SqrtOp>()) /
                        (second.apply<SqrtOp>() + update.filled("eps")) *
                        update.fill(rectified);
  Expression scale = update.fill(rho)
                         .compare(ComparePredicate::greater, 5.0)
                         .select(adaptive, 1.0);
  Expression mean = first / update.fill(correct(update, "beta1"));
  update.parameter = update.parameter - mean * update.filled("lr") * scale;
}

//===----------------------------------------------------------------------===//
// Adadelta and Adagrad
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kAdadeltaParameters[] = {
    {"lr", NumberRange::nonNegative(), 1},
    {"rho", NumberRange::belowOne(), 0.9},
    {"eps", NumberRange::nonNegative(), 1e-6},
    kWeightDecay};
static constexpr OptimizerState kAdadeltaStates[] = {{"square_average"},
                                                     {"square_change"}};

/// Updates as Adadelta (M. Zeiler, 2012): the running mean of squared changes
/// is of changes before they are multiplied by the rate.
static void updateAdadelta(OptimizerUpdate &update) {
  addPenalty(update);
  Expression &squares = update.state("square_average");
  Expression &changes = update.state("square_change");
  Expression eps = update.filled("eps");
  squares = addSquare(update, squares, "rho", update.gradient);
  Expression change = (changes + eps).apply<SqrtOp>() /
                      (squares + eps).apply<SqrtOp>() * update.gradient;
  changes = addSquare(update, changes, "rho", change);
  update.parameter =
      update.parameter + update.fill(-update.scalar("lr")) * change;
}

static constexpr ParameterInfo kAdagradParameters[] = {
    {"lr", NumberRange::nonNegative(), 1e-2},
    {"lr_decay", NumberRange::nonNegative(), 0},
    {"eps", NumberRange::nonNegative(), 1e-10},
    kWeightDecay,
    {"initial_accumulator_value", NumberRange::nonNegative(), 0}};
static constexpr OptimizerState kAdagradStates[] = {{"square_sum"}};

/// Updates as Adagrad (J. Duchi et al., JMLR 2011). The sum begins with 0 in
/// checkpoints; its initial value is added where it is used.
static void updateAdagrad(OptimizerUpdate &update) {
  addPenalty(update);
  Expression &squares = update.state("square_sum");
  squares = squares + update.gradient * update.gradient;
  Expression rate = update.scalar("lr") /
                    (1.0 + update.scalar("step") * update.scalar("lr_decay"));
  Expression sum = squares + update.filled("initial_accumulator_value");
  Expression denominator = sum.apply<SqrtOp>() + update.filled("eps");
  update.parameter =
      update.parameter + update.fill(-rate) * update.gradient / denominator;
}

//===----------------------------------------------------------------------===//
// Adan
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kAdanParameters[] = {
    kRate,
    {"beta1", NumberRange::belowOne(), 0.98},
    {"beta2", NumberRange::belowOne(), 0.92},
    {"beta3", NumberRange::belowOne(), 0.99},
    kEps,
    kWeightDecay,
    {"no_prox", NumberRange::any(), {}, Kind::flag}};
static constexpr OptimizerState kAdanStates[] = {{"first_moment"},
                                                 {"difference_moment"},
                                                 {"second_moment"},
                                                 {"previous_gradient"}};

/// Updates as Adan (X. Xie et al., "Adan: adaptive Nesterov momentum", 2022).
/// In the first step, the difference from the previous gradient is 0.
static void updateAdan(OptimizerUpdate &update) {
  Expression &first = update.state("first_moment");
  Expression &difference = update.state("difference_moment");
  Expression &second = update.state("second_moment");
  Expression &previous = update.state("previous_gradient");
  Expression beta2 = update.filled("beta2");
  Expression change = update.fill(update.scalar("step"))
                          .compare(ComparePredicate::greater, 0.0)
                          .select(update.gradient - previous, 0.0);
  previous = update.gradient;
  first = first * update.filled("beta1") +
          update.fill(1.0 - update.scalar("beta1")) * update.gradient;
  difference =
      difference * beta2 + update.fill(1.0 - update.scalar("beta2")) * change;
  second = addSquare(update, second, "beta3", change * beta2 + update.gradient);

  Expression rate = update.scalar("lr");
  Expression correction = correct(update, "beta3").apply<SqrtOp>();
  Expression denominator =
      second.apply<SqrtOp>() / update.fill(correction) + update.filled("eps");
  Expression size = rate / correct(update, "beta1");
  Expression sizeOfDifference =
      rate * update.scalar("beta2") / correct(update, "beta2");
  bool isDecayedFirst = update.has("no_prox");
  if (isDecayedFirst)
    decayWeights(update);
  update.parameter =
      update.parameter + update.fill(-size) * first / denominator;
  update.parameter = update.parameter +
                     update.fill(-sizeOfDifference) * difference / denominator;
  if (!isDecayedFirst)
    update.parameter = update.parameter /
                       update.fill(1.0 + rate * update.scalar("weight_decay"));
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
     "Adam; `weight_decay` is an L2 penalty, added to the gradient; `amsgrad = "
     "true` divides by the largest second moment so far"},
    {"adamw", kAdamWParameters, kAdamStates, /*usesStep=*/true, updateAdamW,
     "Adam with decoupled weight decay; `amsgrad` as for `adam`"},
    {"adamax", kAdamaxParameters, kAdamaxStates, /*usesStep=*/true,
     updateAdamax,
     "Adam with the largest gradient so far, which decays, in place of the "
     "second moment; `weight_decay` is an L2 penalty"},
    {"radam", kRadamParameters, kRadamStates, /*usesStep=*/true, updateRadam,
     "Adam that moves by the first moment alone as long as too few gradients "
     "were seen for the second one; `weight_decay` is an L2 penalty or, with "
     "`decoupled_weight_decay = true`, decoupled"},
    {"adadelta", kAdadeltaParameters, kAdadeltaStates, /*usesStep=*/false,
     updateAdadelta,
     "divides the gradient by the root of its running mean square, and "
     "multiplies it by that of earlier changes; `weight_decay` is an L2 "
     "penalty"},
    {"adagrad", kAdagradParameters, kAdagradStates, /*usesStep=*/true,
     updateAdagrad,
     "divides the gradient by the root of the sum of all squares, which begins "
     "with `initial_accumulator_value`; the rate is divided by 1 + s · "
     "`lr_decay` in step s from 0; "
     "`weight_decay` is an L2 penalty"},
    {"adan", kAdanParameters, kAdanStates, /*usesStep=*/true, updateAdan,
     "adds a running mean of the gradient's differences to Adam's; weights are "
     "divided by 1 + lr · `weight_decay` after the update or, with `no_prox = "
     "true`, decay before it"},
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

bool OptimizerInfo::hasOption(StringRef option) const {
  const ParameterInfo *known = findByName(parameters, option);
  return known && (known->kind == Kind::flag || known->kind == Kind::optional);
}

SmallVector<StringRef> hfta::getGivenOptions(const OptimizerKind &kind) {
  return SmallVector<StringRef>(kind.options.begin(), kind.options.end());
}

SmallVector<const OptimizerState *> hfta::getStates(const OptimizerKind &kind) {
  return findOptimizer(kind.name)->getStates(getGivenOptions(kind));
}

SmallVector<StringRef> hfta::getStateOrder() {
  SmallVector<StringRef> order;
  for (const OptimizerInfo &optimizer : getOptimizers()) {
    // States that are new come directly before the next one that is known.
    auto *next = order.end();
    for (const OptimizerState &state : llvm::reverse(optimizer.states)) {
      auto *known = llvm::find(order, state.name);
      assert(known == order.end() || known <= next);
      next = known != order.end() ? known : order.insert(next, state.name);
    }
  }
  return order;
}

std::string hfta::describeStates(const Job &job, int64_t kind) {
  if (job.optimizers.empty())
    return "";
  std::string text = job.optimizers[kind].name;
  for (const OptimizerState *state : getStates(job.optimizers[kind]))
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
    if (!info->hasOption(given.back()))
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
