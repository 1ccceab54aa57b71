//===- PublishedFactorsTest.cpp - Published runs of K-FAC -----------------===//

#include "Kfac/PublishedFactors.h"

#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

TEST(PublishedFactorsTest, hasAllLayers) {
  struct {
    size_t layers;
    double input, output; // millions of elements
  } sums[] = {{54, 62.3, 14.6},
              {156, 162.0, 32.9},
              {201, 131.0, 1.8},
              {150, 116.4, 4.7}};
  for (auto [network, sum] : llvm::zip_equal(getPublishedNetworks(), sums)) {
    SCOPED_TRACE(network.name);
    EXPECT_EQ(network.layers.size(), sum.layers);
    double input = 0, output = 0;
    for (const PublishedNetwork::LayerSizes &sizes : network.layers) {
      input += Factor{sizes.input}.getElements() / 1e6;
      output += Factor{sizes.output}.getElements() / 1e6;
    }
    EXPECT_NEAR(input, sum.input, 0.05);
    EXPECT_NEAR(output, sum.output, 0.05);
  }
}

TEST(PublishedFactorsTest, replaysPublishedSteps) {
  for (const PublishedNetwork &network : getPublishedNetworks()) {
    SCOPED_TRACE(network.name);
    for (size_t plan = 0; plan < 3; ++plan) {
      double seconds = replay(network, kPublishedPlans[plan]).seconds;
      EXPECT_NEAR(seconds, network.replayed[plan], 6e-4);
      EXPECT_NEAR(seconds, network.published[plan],
                  0.05 * network.published[plan]);
    }
  }
}

TEST(PublishedFactorsTest, plansShorterSteps) {
  for (const PublishedNetwork &network : getPublishedNetworks()) {
    SCOPED_TRACE(network.name);
    KfacModel model = network.getModel();
    KfacCosts costs = getPublishedCosts(/*isOverlapped=*/false);
    KfacPlan plan = planBalanced(model, costs, kPublishedRanks);
    double seconds =
        simulateStep(model, costs, plan, KfacStep::inverses).seconds;
    EXPECT_LE(seconds, network.goal);
    costs = getPublishedCosts(/*isOverlapped=*/true);
    plan = planBalanced(model, costs, kPublishedRanks);
    EXPECT_LT(simulateStep(model, costs, plan, KfacStep::inverses).seconds,
              seconds);
  }
}
