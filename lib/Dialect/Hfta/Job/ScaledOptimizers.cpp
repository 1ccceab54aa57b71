//===- ScaledOptimizers.cpp - Steps scaled by norms of whole tensors ------===//
//
// Records of optimizers whose steps depend on norms of a parameter, of its
// gradient, or of rows and columns of it. A norm is that of one copy's tensor,
// and its order of sums follows from the tensor's shape.
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

//===----------------------------------------------------------------------===//
// LAMB
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kLambParameters[] = {
    kRate,
    kBeta1,
    kBeta2,
    {"eps", NumberRange::nonNegative(), 1e-6},
    {"weight_decay", NumberRange::nonNegative(), 1e-2},
    {"always_adapt", NumberRange::any(), {}, Kind::flag},
    {"trust_clip", NumberRange::any(), {}, Kind::flag},
    kDecoupled};
static constexpr OptimizerState kLambStates[] = {{"first_moment"},
                                                 {"second_moment"}};

/// Updates as LAMB (Y. You et al., "Large batch optimization for deep learning:
/// training BERT in 76 minutes", ICLR 2020), without a limit of gradients of
/// its own. A step is as long as the parameter, times the rate, where there is
/// weight decay or `always_adapt` is true.
static void updateLamb(OptimizerUpdate &update) {
  Expression &first = update.state("first_moment");
  Expression &second = update.state("second_moment");
  first = approach(update, first);
  second = addSquare(update, second, "beta2", update.gradient);
  Expression correction = correct(update, "beta2").apply<SqrtOp>();
  Expression denominator =
      second.apply<SqrtOp>() / update.fill(correction) + update.filled("eps");
  Expression step = first / update.fill(correct(update, "beta1")) / denominator;
  if (update.has("decoupled_weight_decay"))
    decayWeights(update);
  else
    step = step + update.filled("weight_decay") * update.parameter;

  Expression own = update.norm(update.parameter), length = update.norm(step);
  auto isPositive = [](const Expression &number) {
    return number.compare(ComparePredicate::greater, 0.0);
  };
  // The ratio is divided by 0 only where it isn't used.
  Expression ratio =
      isPositive(own).select(isPositive(length).select(own / length, 1.0), 1.0);
  if (update.has("trust_clip"))
    ratio = ratio.compare(ComparePredicate::greater, 1.0).select(1.0, ratio);
  if (!update.has("always_adapt"))
    ratio = isPositive(update.scalar("weight_decay")).select(ratio, 1.0);
  update.parameter = update.parameter + update.fill(-update.scalar("lr")) *
                                            step * update.fill(ratio);
}

//===----------------------------------------------------------------------===//
// Adafactor
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kAdafactorParameters[] = {
    {"lr", NumberRange::nonNegative(), 1e-2},
    {"beta2_decay", {-NumberRange::kInfinity, 0}, -0.8},
    {"eps1", NumberRange::nonNegative(), {}, Kind::optional},
    {"eps2", NumberRange::nonNegative(), 1e-3},
    {"d", NumberRange::nonNegative(), 1},
    kWeightDecay};
static constexpr OptimizerState kAdafactorStates[] = {
    {"row_variance", 0, /*onlyWith=*/"", StateExtent::rows},
    {"column_variance", 0, /*onlyWith=*/"", StateExtent::columns},
    {"variance", 0, /*onlyWith=*/"", StateExtent::unlessMatrix}};

/// Returns the mean of squares over an axis.
static Expression meanOfSquares(const Expression &value, int64_t axis) {
  auto count = static_cast<double>(value.getShape()[axis]);
  return (value * value).sum({axis}) / count;
}

/// Estimates the variance of a tensor's gradient of two axes or more as the
/// product of those of rows and columns, the last two axes, divided by their
/// mean, which is at least `least`. `weight` is that of the present gradient.
static Expression factorVariance(OptimizerUpdate &update,
                                 const Expression &weight,
                                 const Expression &least) {
  ArrayRef<int64_t> shape = update.parameter.getShape();
  auto rank = static_cast<int64_t>(shape.size());
  Expression &rows = update.state("row_variance");
  Expression &columns = update.state("column_variance");
  auto follow = [&](Expression &mean, int64_t axis) {
    Expression now = meanOfSquares(update.gradient, axis);
    mean = mean +
           weight.to(now.getElementType()).fill(now.getShape()) * (now - mean);
  };
  follow(rows, rank - 1);
  follow(columns, rank - 2);
  Expression mean = rows.sum({rank - 2}) / static_cast<double>(shape[rank - 2]);
  Expression floor = least.to(mean.getElementType()).fill(mean.getShape());
  mean = mean.apply<MaxOp>(floor);
  return rows.repeat(shape, {rank - 1}) * columns.repeat(shape, {rank - 2}) /
         mean.repeat(shape, {rank - 2, rank - 1});
}

/// Updates as PyTorch's Adafactor (N. Shazeer, M. Stern, "Adafactor: adaptive
/// learning rates with sublinear memory cost", ICML 2018): steps are relative
/// to the root mean square of the parameter, and rates fall as 1 / sqrt(t).
static void updateAdafactor(OptimizerUpdate &update) {
  Expression step = update.scalar("step") + 1.0;
  Expression weight = step.apply<PowOp>(update.scalar("beta2_decay"));
  Expression root = 1.0 / step.apply<SqrtOp>();
  Expression rate = update.scalar("lr");
  Expression limited =
      rate.compare(ComparePredicate::less, root).select(rate, root);
  auto count = static_cast<double>(update.parameter.getType().getNumElements());
  Expression size = update.norm(update.parameter) / std::sqrt(count);
  size = size.apply<MaxOp>(update.scalar("eps2"));
  double epsilon = update.getComputeType().isF64()
                       ? std::numeric_limits<double>::epsilon()
                       : std::numeric_limits<float>::epsilon();
  Expression least =
      update.has("eps1") ? update.scalar("eps1") : rate.splat(epsilon);
  decayWeights(update);

  Expression variance;
  if (update.parameter.getShape().size() >= 2) {
    variance = factorVariance(update, weight, least);
  } else {
    Expression &squares = update.state("variance");
    Expression now = update.gradient * update.gradient;
    squares = squares + update.fill(weight) * (now - squares);
    variance = squares;
  }
  Expression direction =
      update.gradient /
      variance.apply<MaxOp>(update.fill(least * least)).apply<SqrtOp>();
  Expression length =
      update.norm(direction) / (std::sqrt(count) * update.scalar("d"));
  Expression scale = size * limited / length.apply<MaxOp>(length.splat(1.0));
  update.parameter = update.parameter + update.fill(-scale) * direction;
}

//===----------------------------------------------------------------------===//
// The records
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> hfta::getScaledOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"lamb", kLambParameters, kLambStates, /*usesStep=*/true, updateLamb,
       "Adam whose step of a parameter is as long as the parameter, times the "
       "rate, if there is weight decay or `always_adapt = true`; with "
       "`trust_clip = true` it becomes no longer by that; `weight_decay` is "
       "part "
       "of the step or, with `decoupled_weight_decay = true`, decoupled; "
       "`clip_norm 1` is the limit of gradients that some programs have "
       "within"},
      {"adafactor", kAdafactorParameters, kAdafactorStates, /*usesStep=*/true,
       updateAdafactor,
       "PyTorch's Adafactor: of a parameter's last two axes it keeps variances "
       "of rows and columns alone; steps are relative to the parameter's root "
       "mean square, at least `eps2`, times the smaller of `lr` and 1 / √t in "
       "step t from 1; `eps1`: by default the epsilon of the type `compute`; "
       "decoupled weight decay"},
  };
  return kOptimizers;
}
