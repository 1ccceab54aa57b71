//===- KfacSimulationTest.cpp - Simulated steps of K-FAC ------------------===//

#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include "Kfac/TestKfacModels.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir::hfta::planning;

/// Returns the only event with this activity, rank and number. Fails the test
/// if there isn't exactly one.
static KfacEvent find(const KfacRun &run, KfacActivity activity,
                      int64_t rank = kEveryRank, int64_t number = 0) {
  std::vector<KfacEvent> found;
  for (const KfacEvent &event : run.events)
    if (event.activity == activity && event.rank == rank &&
        event.number == number)
      found.push_back(event);
  EXPECT_EQ(found.size(), 1u)
      << getName(activity).str() << " of rank " << rank << ", " << number;
  return found.empty() ? KfacEvent() : found.front();
}

static int64_t count(const KfacRun &run, KfacActivity activity) {
  return llvm::count_if(run.events, [&](const KfacEvent &event) {
    return event.activity == activity;
  });
}

static void expectTimes(const KfacEvent &event, double begin, double end) {
  SCOPED_TRACE(getName(event.activity).str());
  EXPECT_NEAR(event.begin, begin, 1e-9);
  EXPECT_NEAR(event.end, end, 1e-9);
}

//===----------------------------------------------------------------------===//
// Times computed by hand
//===----------------------------------------------------------------------===//

static KfacPlan makePlan(KfacPlacement placement, const FactorGrid &grid) {
  return makeTwoLayersPlan(makeTwoLayers(), makeSimpleCosts(), placement, grid);
}

TEST(KfacSimulationTest, runsBalancedSteps) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(KfacPlacement::balanced, {2, 1});
  KfacRun run =
      simulateStep(model, makeSimpleCosts(), plan, KfacStep::inverses);
  expectTimes(find(run, KfacActivity::lead), 0, 100);
  expectTimes(find(run, KfacActivity::forward), 100, 101.5);
  expectTimes(find(run, KfacActivity::forward, kEveryRank, 1), 101.5, 105.5);
  expectTimes(find(run, KfacActivity::backward, kEveryRank, 1), 105.5, 111.5);
  expectTimes(find(run, KfacActivity::backward), 111.5, 113.75);
  // The input factors are all-reduced during the backward.
  expectTimes(find(run, KfacActivity::reduceFactors), 105.5, 105.76);
  // If gradients and factors are ready at the same time, gradients are sent
  // first.
  expectTimes(find(run, KfacActivity::reduceGradients, kEveryRank, 1), 111.5,
              111.63);
  expectTimes(find(run, KfacActivity::reduceFactors, kEveryRank, 1), 111.63,
              111.74);
  expectTimes(find(run, KfacActivity::reduceGradients), 113.75, 113.93);
  expectTimes(find(run, KfacActivity::reduceFactors, kEveryRank, 2), 113.93,
              114.06);
  // Each rank inverts a factor as soon as it is ready, and the largest of
  // several ready ones first.
  expectTimes(find(run, KfacActivity::invert, 0, 4), 113.75, 177.75);
  expectTimes(find(run, KfacActivity::invert, 0, 2), 177.75, 185.75);
  expectTimes(find(run, KfacActivity::invert, 1, 3), 113.75, 140.75);
  expectTimes(find(run, KfacActivity::invert, 1, 1), 140.75, 141.75);
  expectTimes(find(run, KfacActivity::broadcastInverses, 1, 2), 141.75, 141.92);
  expectTimes(find(run, KfacActivity::broadcastInverses, 0, 0), 185.75, 185.98);
  for (int64_t rank : {0, 1}) {
    expectTimes(find(run, KfacActivity::precondition, rank), 185.98, 215.98);
    expectTimes(find(run, KfacActivity::update, rank), 215.98, 220.98);
  }
  EXPECT_NEAR(run.seconds, 220.98, 1e-9);
  EXPECT_NEAR(run.getEnd(KfacActivity::invert), 185.75, 1e-9);
  EXPECT_EQ(count(run, KfacActivity::broadcastDirections), 0);

  run = simulateStep(model, makeSimpleCosts(), plan, KfacStep::factors);
  EXPECT_EQ(count(run, KfacActivity::reduceFactors), 3);
  EXPECT_EQ(count(run, KfacActivity::invert), 0);
  // In a step without inversions, preconditioning doesn't wait for factors.
  expectTimes(find(run, KfacActivity::precondition, 0), 113.93, 143.93);

  run = simulateStep(model, makeSimpleCosts(), plan, KfacStep::plain);
  EXPECT_EQ(count(run, KfacActivity::reduceFactors), 0);
  expectTimes(find(run, KfacActivity::backward), 108, 110);
  EXPECT_NEAR(run.seconds, 110.18 + 35, 1e-9);
}

TEST(KfacSimulationTest, invertsOnAllRanksLast) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(KfacPlacement::balanced, {2, 1});
  plan.owners = {0, kEveryRank, kEveryRank, 1};
  KfacRun run =
      simulateStep(model, makeSimpleCosts(), plan, KfacStep::inverses);
  expectTimes(find(run, KfacActivity::invert, 0, 4), 113.75, 177.75);
  expectTimes(find(run, KfacActivity::invert, 0), 177.75, 212.75);
  expectTimes(find(run, KfacActivity::broadcastInverses, 0), 177.75, 177.95);
  expectTimes(find(run, KfacActivity::invert, 1), 114.75, 149.75);
  expectTimes(find(run, KfacActivity::precondition, 1), 177.95, 207.95);
  expectTimes(find(run, KfacActivity::precondition, 0), 212.75, 242.75);
}

TEST(KfacSimulationTest, waitsWithoutOverlap) {
  KfacModel model = makeTwoLayers();
  KfacCosts costs = makeSimpleCosts();
  costs.isOverlapped = costs.isMerged = false;
  KfacPlan plan = makePlan(KfacPlacement::balanced, {2, 1});
  KfacRun run = simulateStep(model, costs, plan, KfacStep::inverses);
  // All sums follow the backward; inversions follow the sums, and broadcasts
  // the inversions.
  expectTimes(find(run, KfacActivity::reduceGradients, kEveryRank, 1), 113.75,
              113.88);
  expectTimes(find(run, KfacActivity::reduceFactors, kEveryRank, 2), 114.43,
              114.56);
  expectTimes(find(run, KfacActivity::invert, 0, 4), 114.56, 178.56);
  expectTimes(find(run, KfacActivity::broadcastInverses, 1, 2), 186.56, 186.72);
  expectTimes(find(run, KfacActivity::broadcastInverses, 1, 3), 186.72, 186.83);
  expectTimes(find(run, KfacActivity::broadcastInverses, 0, 0), 186.83, 187.03);
  expectTimes(find(run, KfacActivity::broadcastInverses, 0, 1), 187.03, 187.16);
  EXPECT_NEAR(run.seconds, 187.16 + 35, 1e-9);
}

TEST(KfacSimulationTest, sendsDirectionsAlongRows) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(KfacPlacement::fraction, {2, 2});
  KfacRun run =
      simulateStep(model, makeSimpleCosts(), plan, KfacStep::inverses);
  // Each column of the grid works by itself: it waits only for its own
  // inverses.
  expectTimes(find(run, KfacActivity::broadcastInverses, 1, 2), 141.75, 141.92);
  expectTimes(find(run, KfacActivity::precondition, 1), 141.92, 161.92);
  expectTimes(find(run, KfacActivity::precondition, 3), 141.92, 161.92);
  expectTimes(find(run, KfacActivity::precondition, 2), 185.98, 195.98);
  for (int64_t row : {0, 1}) {
    // Broadcasts have a fixed order: the rank that preconditions for less time
    // sends first. The other rank, which is ready earlier here, waits for it.
    expectTimes(find(run, KfacActivity::broadcastDirections, 2 * row), 195.98,
                196.16);
    expectTimes(find(run, KfacActivity::broadcastDirections, 2 * row + 1),
                196.16, 196.29);
  }
  EXPECT_NEAR(run.seconds, 196.29 + 5, 1e-9);
  // Directions are broadcast in each step, even without inversions.
  run = simulateStep(model, makeSimpleCosts(), plan, KfacStep::plain);
  EXPECT_EQ(count(run, KfacActivity::broadcastDirections), 4);
  EXPECT_EQ(count(run, KfacActivity::broadcastInverses), 0);
  EXPECT_NEAR(run.seconds, 110.18 + 20 + 0.13 + 5, 1e-9);
}

TEST(KfacSimulationTest, keepsStatisticsWithTheirOwners) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(KfacPlacement::local, {1, 3});
  KfacRun run =
      simulateStep(model, makeSimpleCosts(), plan, KfacStep::inverses);
  EXPECT_EQ(count(run, KfacActivity::reduceFactors), 0);
  EXPECT_EQ(count(run, KfacActivity::broadcastInverses), 0);
  expectTimes(find(run, KfacActivity::backward), 108, 110);
  expectTimes(find(run, KfacActivity::backward, 0), 108.5, 110.75);
  expectTimes(find(run, KfacActivity::backward, 1), 111, 113);
  // Gradients are summed over all ranks.
  expectTimes(find(run, KfacActivity::reduceGradients), 113, 113.18);
  expectTimes(find(run, KfacActivity::invert, 0, 4), 110.75, 174.75);
  EXPECT_EQ(count(run, KfacActivity::precondition), 3);
  EXPECT_EQ(count(run, KfacActivity::broadcastDirections), 2);
}

TEST(KfacSimulationTest, countsStepsByTheirPeriods) {
  KfacModel model = makeTwoLayers();
  KfacCosts costs = makeSimpleCosts();
  KfacPlan plan = makePlan(KfacPlacement::balanced, {2, 1});
  double plain = simulateStep(model, costs, plan, KfacStep::plain).seconds;
  double factors = simulateStep(model, costs, plan, KfacStep::factors).seconds;
  double inverses =
      simulateStep(model, costs, plan, KfacStep::inverses).seconds;
  EXPECT_DOUBLE_EQ(getMeanSeconds(model, costs, plan), inverses);
  model.factorEvery = 10;
  model.inverseEvery = 100;
  EXPECT_NEAR(getMeanSeconds(model, costs, plan),
              0.9 * plain + 0.09 * factors + 0.01 * inverses, 1e-9);
}

TEST(KfacSimulationTest, printsPlans) {
  KfacModel model = makeTwoLayers();
  model.inverseEvery = 2;
  KfacPlan plan = makePlan(KfacPlacement::fraction, {2, 2});
  plan.owners[3] = kEveryRank;
  std::string text;
  llvm::raw_string_ostream os(text);
  printKfacPlan(model, makeSimpleCosts(), plan, os);
  EXPECT_EQ(os.str(), R"(fraction 2/4: 2 rows, 2 columns of ranks
steps 201290.000 ms with inverses, 139060.000 ms with factors, 135310.000 ms else; mean 170175.000 ms
factors 0.0 MiB, inverses 0.0 MiB a rank

bucket  factors    elements   begin ms     end ms
     0        2          16 105500.000 105760.000
     1        1           1 111630.000 111740.000
     2        1           3 113930.000 114060.000

  rank  factors  largest rows    elements  invert ms
  each        1             1           1   1000.000
     0        2             4          13  72000.000
     1        1             3           6  27000.000

step with inverses    times   begin ms     end ms
lead                      1      0.000 100000.000
forward                   2 100000.000 105500.000
backward                  2 105500.000 113750.000
reduce gradients          2 111500.000 113930.000
reduce factors            3 105500.000 114060.000
invert                    5 113750.000 185750.000
broadcast inverses        2 140750.000 185980.000
precondition              4 140910.000 195980.000
broadcast directions      4 195980.000 196290.000
update                    4 196290.000 201290.000
)");
}

//===----------------------------------------------------------------------===//
// Random models
//===----------------------------------------------------------------------===//

TEST(KfacSimulationTest, sendsBucketsAsTheyWerePlanned) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    RandomKfac kfac(12, random);
    KfacPlan plan = planBalanced(kfac.model, kfac.costs, /*ranks=*/3);
    KfacRun run =
        simulateStep(kfac.model, kfac.costs, plan, KfacStep::inverses);
    for (auto [number, bucket] : llvm::enumerate(plan.buckets))
      expectTimes(find(run, KfacActivity::reduceFactors, kEveryRank, number),
                  bucket.begin, bucket.end);
  }
}

TEST(KfacSimulationTest, agreesWithThePlacementsTimes) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    RandomKfac kfac(12, random);
    // Sums of factors take no time, so that all factors are ready when the
    // backward ends.
    kfac.costs.reduceFactors = kfac.costs.reduceGradients = {};
    KfacPlan plan = planBalanced(kfac.model, kfac.costs, /*ranks=*/3);
    KfacRun run =
        simulateStep(kfac.model, kfac.costs, plan, KfacStep::inverses);
    PlacementTimes times =
        getPlacementTimes(kfac.model.getMatrices(), plan.owners,
                          {kfac.costs.invert, kfac.costs.broadcast(3),
                           kfac.costs.isMerged, kfac.costs.isOverlapped});
    double begin = run.getEnd(KfacActivity::backward);
    EXPECT_NEAR(run.getEnd(KfacActivity::invert), begin + times.inverted, 1e-8);
    double end = std::max(run.getEnd(KfacActivity::broadcastInverses),
                          run.getEnd(KfacActivity::invert));
    EXPECT_NEAR(end, begin + times.broadcast, 1e-8);
  }
}

TEST(KfacSimulationTest, doesOneThingAtATimeEverywhere) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    RandomKfac kfac(12, random);
    FactorGrid grid{2, 3};
    for (const KfacPlan &plan :
         {planBalanced(kfac.model, kfac.costs, 6),
          planFraction(kfac.model, kfac.costs, grid, FactorPairing::apart),
          planLocal(kfac.model, 6)}) {
      KfacRun run =
          simulateStep(kfac.model, kfac.costs, plan, KfacStep::inverses);
      // Each rank, each column and each row has a queue of its own; all sums
      // share one queue.
      std::map<std::pair<int, int64_t>, double> ends;
      for (const KfacEvent &event : run.events) {
        std::pair<int, int64_t> queue(0, event.rank);
        if (event.activity == KfacActivity::reduceFactors ||
            event.activity == KfacActivity::reduceGradients)
          queue = {1, 0};
        else if (event.activity == KfacActivity::broadcastInverses)
          queue = {2, plan.grid.getColumn(event.rank)};
        else if (event.activity == KfacActivity::broadcastDirections)
          queue = {3, plan.grid.getRow(event.rank)};
        EXPECT_GE(event.begin, ends[queue]);
        EXPECT_LE(event.end, run.seconds);
        ends[queue] = event.end;
      }
    }
  }
}

TEST(KfacSimulationTest, hasTheSameStepsOfEquivalentPlans) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    RandomKfac kfac(12, random);
    KfacPlan all =
        planFraction(kfac.model, kfac.costs, {4, 1}, FactorPairing::together);
    KfacPlan balanced = all;
    balanced.placement = KfacPlacement::balanced;
    EXPECT_EQ(getMeanSeconds(kfac.model, kfac.costs, all),
              getMeanSeconds(kfac.model, kfac.costs, balanced));
    // If statistics take no time to compute or to sum, the plan `local` takes
    // as long as the equivalent plan `fraction`.
    for (KfacFactor &factor : kfac.model.factors)
      factor.moment = 0;
    kfac.costs.reduceFactors = kfac.costs.reduceGradients = {};
    KfacPlan local = planLocal(kfac.model, 4);
    KfacPlan one =
        planFraction(kfac.model, kfac.costs, {1, 4}, FactorPairing::together);
    EXPECT_EQ(local.owners, one.owners);
    EXPECT_NEAR(getMeanSeconds(kfac.model, kfac.costs, local),
                getMeanSeconds(kfac.model, kfac.costs, one), 1e-9);
  }
}
