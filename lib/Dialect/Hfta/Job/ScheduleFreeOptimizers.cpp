//===- ScheduleFreeOptimizers.cpp - Optimizers that average ---------------===//
//
// Records of schedule-free optimizers (A. Defazio et al., "The road less
// scheduled", NeurIPS 2024). Such an optimizer moves a base z of each parameter
// and averages it to x; gradients are those at y = (1 - beta) z + beta x, which
// is the parameter. x is what counts: it is evaluated and exported.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "OptimizerUpdate.h"

using namespace mlir;
using namespace mlir::hfta;

/// Where y lies between z, at 0, and x, at 1. Both ends are left out: they are
/// other methods, and at 1 the offset of x from y would no longer tell z.
static constexpr NumberRange kBetweenZeroAndOne = {0, 1, false, false};
static constexpr ParameterInfo kStepPower = {"r", NumberRange::nonNegative(),
                                             0};
static constexpr ParameterInfo kRatePower = {"rate_power",
                                             NumberRange::nonNegative(), 2};

static constexpr OptimizerState kOffset = {kAverageOffsetState};
static constexpr OptimizerState kWeightSum = {"weight_sum", 0, /*onlyWith=*/"",
                                              StateExtent::number};
static constexpr OptimizerState kLargestRate = {
    "largest_rate", 0, /*onlyWith=*/"", StateExtent::number};
static constexpr OptimizerState kLastBeta = {"last_beta", 0, /*onlyWith=*/"",
                                             StateExtent::number};

/// Returns the share of the new base in the average. The weight of step t is
/// t^r times a power of the largest rate so far. As long as all rates are 0,
/// nothing moves, and no step counts.
static Expression addWeight(OptimizerUpdate &update) {
  Expression &sum = update.state(kWeightSum.name);
  Expression &largest = update.state(kLargestRate.name);
  largest = largest.apply<MaxOp>(update.scalar("lr"));
  Expression step = update.scalar("step") + 1.0;
  Expression weight = step.apply<PowOp>(update.scalar(kStepPower.name)) *
                      largest.apply<PowOp>(update.scalar(kRatePower.name));
  sum = sum + weight;
  // The sum divides where it is 0 only if the result isn't used.
  return sum.compare(ComparePredicate::greater, 0.0).select(weight / sum, 0.0);
}

/// Moves the base against `direction` and takes it into the average. The state
/// is the offset x - y = (1 - beta) (x - z), from which both x and z follow. It
/// begins with 0, where all three are the initial parameter. The beta by which
/// it was computed is kept, too, as beta may have a schedule.
static void moveBase(OptimizerUpdate &update, const Expression &beta,
                     const Expression &direction) {
  Expression &offset = update.state(kOffset.name);
  Expression &last = update.state(kLastBeta.name);
  Expression rest = 1.0 - addWeight(update);
  // How far the average is from the base: first from the new one, then after it
  // has taken that in.
  Expression gap =
      offset / update.fill(1.0 - last) + update.filled("lr") * direction;
  Expression left = update.fill(rest) * gap;
  update.parameter =
      update.parameter + (offset - gap + update.fill(beta) * left);
  offset = update.fill(1.0 - beta) * left;
  last = beta;
}

//===----------------------------------------------------------------------===//
// Stochastic gradient descent and AdamW
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kSgdParameters[] = {
    {"lr", NumberRange::nonNegative(), 1},
    {"momentum", kBetweenZeroAndOne, 0.9},
    kWeightDecay,
    kStepPower,
    kRatePower};
static constexpr OptimizerState kSgdStates[] = {kOffset, kWeightSum,
                                                kLargestRate, kLastBeta};

static void updateSgd(OptimizerUpdate &update) {
  addPenalty(update);
  moveBase(update, update.scalar("momentum"), update.gradient);
}

static constexpr ParameterInfo kAdamWParameters[] = {
    {"lr", NumberRange::nonNegative(), 2.5e-3},
    {"beta1", kBetweenZeroAndOne, 0.9},
    kBeta2,
    kEps,
    kWeightDecay,
    kStepPower,
    kRatePower};
static constexpr OptimizerState kAdamWStates[] = {
    {"second_moment"}, kOffset, kWeightSum, kLargestRate, kLastBeta};

/// Takes steps of AdamW without its first moment, whose place the average
/// takes. Weights decay at the parameter.
static void updateAdamW(OptimizerUpdate &update) {
  Expression &second = update.state("second_moment");
  second = addSquare(update, second, "beta2", update.gradient);
  Expression denominator =
      (second / update.fill(correct(update, "beta2"))).apply<SqrtOp>() +
      update.filled("eps");
  moveBase(update, update.scalar("beta1"),
           update.gradient / denominator +
               update.filled("weight_decay") * update.parameter);
}

//===----------------------------------------------------------------------===//
// The records
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> hfta::getScheduleFreeOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"schedule_free_sgd", kSgdParameters, kSgdStates, /*usesStep=*/true,
       updateSgd,
       "stochastic gradient descent that averages its weights instead of "
       "lowering the rate, see [below](#schedule-free-optimizers); "
       "`weight_decay` is an L2 penalty"},
      {"schedule_free_adamw", kAdamWParameters, kAdamWStates, /*usesStep=*/true,
       updateAdamW,
       "averages weights that move by AdamW's steps; these have no first "
       "moment, whose place the average takes; `weight_decay` is decoupled"},
  };
  return kOptimizers;
}
