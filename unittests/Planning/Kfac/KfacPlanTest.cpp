//===- KfacPlanTest.cpp - How ranks share the work of K-FAC ---------------===//

#include "Hfta/Planning/Kfac/KfacPlan.h"

#include "Hfta/Planning/Kfac/KfacSimulation.h"
#include "Kfac/TestKfacModels.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

using Numbers = std::vector<int64_t>;

TEST(KfacPlanTest, ordersFactorsAsTheyGetReady) {
  KfacModel model = makeTwoLayers();
  // The first block gets a second input factor, number 4.
  model.factors.push_back({{5, 2}, 0, true, 0.5});
  Numbers order;
  BucketProblem problem = getBucketProblem(model, makeSimpleCosts(), order);
  EXPECT_EQ(order, Numbers({0, 4, 2, 3, 1}));
  std::vector<double> ready;
  std::vector<bool> ends;
  Numbers elements;
  for (const ReadyFactor &factor : problem.factors) {
    ready.push_back(factor.ready);
    ends.push_back(factor.endsBlock);
    elements.push_back(factor.elements);
  }
  EXPECT_EQ(ready, (std::vector<double>{102, 102, 106, 112, 114.25}));
  EXPECT_EQ(ends, (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(elements, Numbers({10, 30, 6, 1, 3}));
  ASSERT_EQ(problem.others.size(), 2u);
  EXPECT_DOUBLE_EQ(problem.others[0].ready, 112);
  EXPECT_DOUBLE_EQ(problem.others[1].seconds, 0.18);
}

TEST(KfacPlanTest, addsUpNothingThatIsReceived) {
  KfacModel model = makeTwoLayers();
  KfacCosts costs = makeSimpleCosts();
  model.factors[0].isReceived = true;
  model.factors[0].moment = 0;
  KfacPlan plan = planBalanced(model, costs, 2);
  EXPECT_EQ(plan.readyOrder, Numbers({2, 3, 1}));
  int64_t elements = 0;
  for (const Bucket &bucket : plan.buckets)
    elements += bucket.elements;
  EXPECT_EQ(elements, 6 + 1 + 3);
  // A received factor is inverted like the others, but its inversion doesn't
  // wait for a sum.
  EXPECT_EQ(getMemory(model, costs, plan, 0).inverses, 80);
  plan.owners.assign(4, 0);
  KfacRun run = simulateStep(model, costs, plan, KfacStep::inverses);
  double sums = run.getEnd(KfacActivity::reduceFactors);
  bool isSooner = false;
  for (const KfacEvent &event : run.events)
    isSooner |= event.activity == KfacActivity::invert && event.begin < sums;
  EXPECT_TRUE(isSooner);
}

TEST(KfacPlanTest, holdsWhatRanksPreconditionWith) {
  KfacModel model = makeTwoLayers(); // the factors have 10, 3, 6 and 1 elements
  KfacCosts costs = makeSimpleCosts();
  KfacPlan plan = planBalanced(model, costs, 2);
  for (int64_t rank : {0, 1}) {
    EXPECT_EQ(getMemory(model, costs, plan, rank).factors, 80);
    EXPECT_EQ(getMemory(model, costs, plan, rank).inverses, 80);
  }
  plan = planFraction(model, costs, {1, 2}, FactorPairing::together);
  EXPECT_EQ(plan.columns.layers, Numbers({0, 1}));
  EXPECT_EQ(getMemory(model, costs, plan, 0).factors, 80);
  EXPECT_EQ(getMemory(model, costs, plan, 0).inverses, 52);
  EXPECT_EQ(getMemory(model, costs, plan, 1).inverses, 28);
  EXPECT_EQ(getLargestMemory(model, costs, plan).getBytes(), 132);
  plan = planLocal(model, 3);
  EXPECT_EQ(getMemory(model, costs, plan, 0).factors, 52);
  EXPECT_EQ(getMemory(model, costs, plan, 1).inverses, 28);
  EXPECT_EQ(getMemory(model, costs, plan, 2).getBytes(), 0);
  EXPECT_EQ(getLargestMemory(model, costs, plan).getBytes(), 104);
}

TEST(KfacPlanTest, takesTheFastestThatFits) {
  std::mt19937 random(1);
  int fractions = 0;
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    RandomKfac kfac(10, random);
    kfac.model.factorEvery = 10;
    kfac.model.inverseEvery = 20;
    std::vector<KfacPlan> plans = {planBalanced(kfac.model, kfac.costs, 6)};
    for (double fraction : {1.0 / 6, 1.0 / 3, 0.5, 1.0}) {
      FactorGrid grid = llvm::cantFail(makeFactorGrid(fraction, 6));
      plans.push_back(planFraction(kfac.model, kfac.costs, grid));
      for (FactorPairing pairing :
           {FactorPairing::together, FactorPairing::apart})
        plans.push_back(planFraction(kfac.model, kfac.costs, grid, pairing));
    }
    double all = getLargestMemory(kfac.model, kfac.costs, plans[0]).getBytes();
    for (double memory : {0.0, 0.8 * all, all}) {
      double best = std::numeric_limits<double>::infinity();
      for (const KfacPlan &plan : plans)
        if (memory == 0 ||
            getLargestMemory(kfac.model, kfac.costs, plan).getBytes() <= memory)
          best = std::min(best, getMeanSeconds(kfac.model, kfac.costs, plan));
      llvm::Expected<ChosenKfacPlan> chosen =
          chooseKfacPlan(kfac.model, kfac.costs, 6, memory);
      if (!chosen) {
        llvm::consumeError(chosen.takeError());
        EXPECT_EQ(best, std::numeric_limits<double>::infinity());
        continue;
      }
      EXPECT_EQ(chosen->seconds, best);
      EXPECT_NE(chosen->plan.placement, KfacPlacement::local);
      EXPECT_TRUE(memory == 0 || chosen->memory.getBytes() <= memory);
      fractions += chosen->plan.grid.columns > 1;
    }
  }
  EXPECT_GT(fractions, 10);
}

TEST(KfacPlanTest, placesColumnsByCosts) {
  // Inverting takes one second, whatever the size, and sending takes no time.
  KfacCosts costs = makeSimpleCosts();
  costs.invert = makeCubicInversionCost(0, 1, 0);
  costs.reduceFactors = costs.reduceGradients = {};
  costs.broadcast = [](int64_t) { return TransferCost(); };
  KfacModel model;
  model.blocks.resize(1);
  for (int64_t size : {100, 9, 8, 7}) {
    int64_t number = model.factors.size();
    model.factors.push_back({{size, 1}, 0, true, 0});
    model.factors.push_back({{size, 1}, 0, false, 0});
    model.layers.push_back({{number, number + 1}, 1, 0});
  }
  // By the cubes of the sizes, the largest layer weighs so much that it gets a
  // column of its own.
  FactorGrid grid{2, 2};
  KfacPlan cubes = planFraction(model, costs, grid, FactorPairing::apart);
  EXPECT_EQ(cubes.columns.layers, Numbers({0, 1, 1, 1}));
  EXPECT_EQ(getMeanSeconds(model, costs, cubes), 3);
  KfacPlan plan = planFraction(model, costs, grid);
  EXPECT_EQ(plan.columns.layers, Numbers({0, 1, 0, 1}));
  EXPECT_EQ(getMeanSeconds(model, costs, plan), 2);
  for (size_t factor = 0; factor < plan.owners.size(); ++factor)
    EXPECT_EQ(grid.getColumn(plan.owners[factor]),
              plan.columns.factors[factor]);
}

TEST(KfacPlanTest, saysHowMuchMemoryIsNeeded) {
  KfacModel model = makeTwoLayers();
  llvm::Expected<ChosenKfacPlan> plan =
      chooseKfacPlan(model, makeSimpleCosts(), 2, 131);
  ASSERT_FALSE(plan);
  EXPECT_EQ(llvm::toString(plan.takeError()),
            "factors and inverses need 132 bytes on a rank at least: expected "
            "at most 131");
  plan = chooseKfacPlan(model, makeSimpleCosts(), 2, 132);
  ASSERT_TRUE(static_cast<bool>(plan));
  EXPECT_EQ(plan->plan.grid.rows, 1);
  EXPECT_EQ(plan->memory.getBytes(), 132);
}

TEST(KfacPlanTest, needsNobodyElseOnOneRank) {
  KfacModel model = makeTwoLayers();
  ChosenKfacPlan chosen =
      llvm::cantFail(chooseKfacPlan(model, makeSimpleCosts(), 1, 0));
  EXPECT_EQ(chosen.plan.placement, KfacPlacement::balanced);
  EXPECT_EQ(chosen.plan.owners, FactorOwners(4, 0));
}
