//===- TestKfacModels.h - Models of K-FAC for tests -------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_KFAC_TESTKFACMODELS_H
#define HFTA_UNITTESTS_PLANNING_KFAC_TESTKFACMODELS_H

#include "Hfta/Planning/Kfac/KfacPlan.h"

#include <random>

namespace mlir::hfta::planning {

/// Makes two blocks of one layer each. The first layer's input and output
/// factors have 4 and 2 rows, the second one's 3 and 1 rows; their gradients
/// have 8 and 3 elements.
inline KfacModel makeTwoLayers() {
  KfacModel model;
  model.blocks = {{1, 2, 8}, {3, 4, 3}};
  model.factors = {{{4, 1}, 0, true, 0.5},
                   {{2, 1}, 0, false, 0.25},
                   {{3, 1}, 1, true, 1},
                   {{1, 1}, 1, false, 2}};
  model.layers = {{{0, 1}, 8, 10}, {{2, 3}, 3, 20}};
  model.lead = 100;
  model.update = 5;
  return model;
}

/// Makes costs in which inverting a matrix of n rows takes n³ seconds, and a
/// message takes 0.1 s plus 0.01 s per element.
inline KfacCosts makeSimpleCosts() {
  KfacCosts costs;
  costs.invert = makeCubicInversionCost(0, 0, 1);
  costs.reduceFactors = costs.reduceGradients = {0.1, 0.01};
  costs.broadcast = [](int64_t) { return TransferCost{0.1, 0.01}; };
  return costs;
}

/// Makes a plan for the model of makeTwoLayers: rank 0 owns the first layer's
/// factors, rank 1 the second one's.
inline KfacPlan makeTwoLayersPlan(const KfacModel &model,
                                  const KfacCosts &costs,
                                  KfacPlacement placement,
                                  const FactorGrid &grid) {
  KfacPlan plan;
  plan.placement = placement;
  plan.grid = grid;
  int64_t second = grid.getColumn(1);
  plan.columns = {{0, second}, {0, 0, second, second}};
  plan.owners = {0, 0, 1, 1};
  if (placement != KfacPlacement::local)
    plan.buckets = getBucketTimes(
        getBucketProblem(model, costs, plan.readyOrder), {2, 1, 1});
  return plan;
}

/// Random models and costs for which communication takes about as long as
/// computation.
class RandomKfac {
public:
  RandomKfac(int64_t mostLayers, std::mt19937 &random) : random(random) {
    int64_t layers = draw(1, mostLayers);
    model.blocks.resize(draw(1, layers));
    for (KfacBlock &block : model.blocks)
      block = {1e-4 * draw(0, 50), 1e-4 * draw(0, 90), draw(0, 2) * 100000};
    for (int64_t layer = 0; layer < layers; ++layer)
      addLayer(layer * static_cast<int64_t>(model.blocks.size()) / layers);
    model.lead = 1e-3 * draw(0, 9);
    model.update = 1e-3 * draw(0, 9);
    costs.invert = makeCubicInversionCost(1e-4 * draw(0, 9), 1e-5 * draw(0, 9),
                                          1e-12 * draw(1, 9));
    costs.reduceFactors = {1e-4 * draw(0, 9), 1e-9 * draw(1, 9)};
    costs.reduceGradients = {1e-4 * draw(0, 9), 1e-9 * draw(1, 9)};
    TransferCost broadcast = {1e-4 * draw(0, 9), 1e-9 * draw(1, 9)};
    costs.broadcast = [broadcast](int64_t) { return broadcast; };
    costs.isOverlapped = draw(0, 1) > 0;
    costs.isMerged = draw(0, 1) > 0;
  }

  KfacModel model;
  KfacCosts costs;

private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  void addLayer(int64_t block) {
    KfacLayer layer;
    for (bool isInput : {true, false}) {
      KfacFactor factor;
      factor.matrices = {16 * draw(1, 60), draw(1, 2)};
      factor.block = block;
      factor.isInput = isInput;
      factor.moment = 1e-4 * draw(0, 9);
      (isInput ? layer.factors.input : layer.factors.output) =
          model.factors.size();
      model.factors.push_back(factor);
    }
    layer.gradientElements = 1000 * draw(1, 500);
    layer.precondition = 1e-4 * draw(0, 9);
    model.layers.push_back(layer);
  }

  std::mt19937 &random;
};

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_KFAC_TESTKFACMODELS_H
