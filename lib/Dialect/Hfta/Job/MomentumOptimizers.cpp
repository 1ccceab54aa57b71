//===- MomentumOptimizers.cpp - Gradients and their running means ---------===//
//
// Records of optimizers whose steps are gradients, or signs of them, smoothed
// over time.
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

//===----------------------------------------------------------------------===//
// Stochastic gradient descent
//===----------------------------------------------------------------------===//

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
// The records
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> hfta::getMomentumOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"sgd", kSgdParameters, kSgdStates, /*usesStep=*/false, updateSgd,
       "stochastic gradient descent; `weight_decay` is an L2 penalty"},
      {"lion", kLionParameters, kLionStates, /*usesStep=*/false, updateLion,
       "each step is the learning rate times the sign of a weighted mean of "
       "gradient and momentum; decoupled weight decay"},
  };
  return kOptimizers;
}
