//===- AdaptiveOptimizers.cpp - Steps adapted to each element -------------===//
//
// Records of optimizers that divide each element's step by the size that its
// gradients had so far.
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

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
  addPenaltyOrDecay(update);
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
// NAdam
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kNadamParameters[] = {
    {"lr", NumberRange::nonNegative(), 2e-3},
    kBeta1,
    kBeta2,
    kEps,
    kWeightDecay,
    {"momentum_decay", NumberRange::nonNegative(), 4e-3},
    kDecoupled};
static constexpr OptimizerState kNadamStates[] = {
    {"first_moment"},
    {"second_moment"},
    {"momentum_product", 1, /*onlyWith=*/"", StateExtent::number}};

/// Updates as NAdam (T. Dozat, "Incorporating Nesterov momentum into Adam",
/// 2016). The momentum of a step follows from its number; the corrections need
/// the product of those of all steps so far, which is state.
static void updateNadam(OptimizerUpdate &update) {
  addPenaltyOrDecay(update);
  Expression &first = update.state("first_moment");
  Expression &second = update.state("second_moment");
  Expression &product = update.state("momentum_product");
  first = approach(update, first);
  second = addSquare(update, second, "beta2", update.gradient);

  auto getMomentum = [&](double after) {
    Expression exponent =
        (update.scalar("step") + after) * update.scalar("momentum_decay");
    Expression decay = exponent.splat(0.96).apply<PowOp>(exponent);
    return update.scalar("beta1") * (1.0 - 0.5 * decay);
  };
  Expression momentum = getMomentum(1), next = getMomentum(2);
  product = product * momentum;
  Expression correction = correct(update, "beta2");
  Expression denominator =
      (second / update.fill(correction)).apply<SqrtOp>() + update.filled("eps");
  Expression rate = update.scalar("lr");
  Expression ofGradient = rate * (1.0 - momentum) / (1.0 - product);
  Expression ofMean = rate * next / (1.0 - product * next);
  update.parameter = update.parameter +
                     update.fill(-ofGradient) * update.gradient / denominator;
  update.parameter =
      update.parameter + update.fill(-ofMean) * first / denominator;
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
// The records
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> hfta::getAdaptiveOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"adam", kAdamParameters, kAdamStates, /*usesStep=*/true, updateAdam,
       "Adam; `weight_decay` is an L2 penalty, added to the gradient; `amsgrad "
       "= "
       "true` divides by the largest second moment so far"},
      {"adamw", kAdamWParameters, kAdamStates, /*usesStep=*/true, updateAdamW,
       "Adam with decoupled weight decay; `amsgrad` as for `adam`"},
      {"adamax", kAdamaxParameters, kAdamaxStates, /*usesStep=*/true,
       updateAdamax,
       "Adam with the largest gradient so far, which decays, in place of the "
       "second moment; `weight_decay` is an L2 penalty"},
      {"nadam", kNadamParameters, kNadamStates, /*usesStep=*/true, updateNadam,
       "Adam with Nesterov's momentum, which grows over time as "
       "`momentum_decay` "
       "says; `weight_decay` is an L2 penalty or, with `decoupled_weight_decay "
       "= "
       "true`, decoupled"},
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
       "divides the gradient by the root of the sum of all squares, which "
       "begins "
       "with `initial_accumulator_value`; the rate is divided by 1 + s · "
       "`lr_decay` in step s from 0; "
       "`weight_decay` is an L2 penalty"},
      {"adan", kAdanParameters, kAdanStates, /*usesStep=*/true, updateAdan,
       "adds a running mean of the gradient's differences to Adam's; weights "
       "are "
       "divided by 1 + lr · `weight_decay` after the update or, with `no_prox "
       "= "
       "true`, decay before it"},
      {"rmsprop", kRmspropParameters, kRmspropStates, /*usesStep=*/false,
       updateRmsprop,
       "divides the gradient by the root of its running mean square, or, with "
       "`centered = true`, of its running variance; `weight_decay` is an L2 "
       "penalty; there is a momentum buffer only if `momentum` is given"},
  };
  return kOptimizers;
}
