//===- KfacStepByBlocksTest.cpp - K-FAC steps simulated by blocks ---------===//

#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include "Kfac/TestKfacModels.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir::hfta::planning;

namespace {

/// The begin and end in seconds of an activity's events, by rank and number. If
/// several events have the same rank and number, those of the first one.
using Times = std::map<std::pair<int64_t, int64_t>, std::pair<double, double>>;

Times getTimes(const KfacRun &run, KfacActivity activity) {
  Times times;
  for (const KfacEvent &event : run.events)
    if (event.activity == activity)
      times.insert({{event.rank, event.number}, {event.begin, event.end}});
  return times;
}

void expectTimes(const KfacRun &run, KfacActivity activity,
                 const Times &expected) {
  SCOPED_TRACE(getName(activity).str());
  Times times = getTimes(run, activity);
  ASSERT_EQ(times.size(), expected.size());
  for (const auto &[key, interval] : expected) {
    SCOPED_TRACE(testing::Message() << key.first << ", " << key.second);
    ASSERT_TRUE(times.count(key));
    EXPECT_NEAR(times[key].first, interval.first, 1e-9);
    EXPECT_NEAR(times[key].second, interval.second, 1e-9);
  }
}

KfacCosts makeCosts() {
  KfacCosts costs = makeSimpleCosts();
  costs.isByBlocks = true;
  return costs;
}

KfacPlan makePlan(const KfacModel &model, KfacPlacement placement,
                  const FactorGrid &grid) {
  return makeTwoLayersPlan(model, makeCosts(), placement, grid);
}

} // namespace

TEST(KfacStepByBlocksTest, sendsWhatTasksHaveLeftInOneOrder) {
  KfacModel model = makeTwoLayers();
  for (KfacFactor &factor : model.factors)
    factor.mean = 0.25;
  KfacPlan plan = makePlan(model, KfacPlacement::balanced, {2, 1});
  KfacRun run = simulateStep(model, makeCosts(), plan, KfacStep::inverses);
  // All ranks wait for the last sum.
  expectTimes(run, KfacActivity::average,
              {{{0, 0}, {114.06, 115.06}}, {{1, 0}, {114.06, 115.06}}});
  // One task inverts all factors of a layer: 4 and 2 rows on rank 0, 3 and 1
  // rows on rank 1.
  expectTimes(run, KfacActivity::invert,
              {{{0, 4}, {115.06, 187.06}}, {{1, 3}, {115.06, 143.06}}});
  // Broadcasts follow the order of blocks. One message per layer has the
  // inverses, 13 and 7 elements; another one has the count of tries.
  expectTimes(run, KfacActivity::broadcastInverses,
              {{{0, 0}, {187.06, 187.39}}, {{1, 2}, {187.39, 187.66}}});
  // Each block waits only for its own inverses.
  expectTimes(run, KfacActivity::precondition,
              {{{0, 0}, {187.39, 197.39}},
               {{0, 1}, {197.39, 217.39}},
               {{1, 0}, {187.39, 197.39}},
               {{1, 1}, {197.39, 217.39}}});
  EXPECT_NEAR(run.seconds, 222.39, 1e-9);
  // A step without inversions also computes the running means of factors.
  run = simulateStep(model, makeCosts(), plan, KfacStep::factors);
  EXPECT_NEAR(run.seconds, 115.06 + 35, 1e-9);
  run = simulateStep(model, makeCosts(), plan, KfacStep::plain);
  EXPECT_NEAR(run.seconds, 110.18 + 35, 1e-9);
}

TEST(KfacStepByBlocksTest, waitsForWhatOthersInvertForThemselves) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(model, KfacPlacement::balanced, {2, 1});
  plan.owners = {0, kEveryRank, 1, kEveryRank};
  KfacRun run = simulateStep(model, makeCosts(), plan, KfacStep::inverses);
  Times times = getTimes(run, KfacActivity::invert);
  // Rank 0 owns the first input factor. It inverts the output factor, which all
  // ranks invert, after it.
  EXPECT_NEAR(times.at({0, 4}).first, 114.06, 1e-9);
  EXPECT_NEAR(times.at({0, 4}).second, 178.06, 1e-9);
  EXPECT_NEAR(times.at({1, 3}).second, 114.06 + 8 + 27, 1e-9);
  // Rank 0 receives rank 1's inverses only after it has inverted its own
  // factors.
  expectTimes(run, KfacActivity::broadcastInverses,
              {{{0, 0}, {178.06, 178.36}}, {{1, 2}, {186.06, 186.32}}});
}

TEST(KfacStepByBlocksTest, sendsDirectionsBlockByBlock) {
  KfacModel model = makeTwoLayers();
  KfacPlan plan = makePlan(model, KfacPlacement::fraction, {1, 2});
  KfacRun run = simulateStep(model, makeCosts(), plan, KfacStep::plain);
  expectTimes(run, KfacActivity::precondition,
              {{{0, 0}, {110.18, 120.18}}, {{1, 1}, {110.18, 130.18}}});
  // A layer sends its preconditioned gradient, of 8 or 3 elements, and the
  // inner products in another message.
  expectTimes(run, KfacActivity::broadcastDirections,
              {{{0, 0}, {120.18, 120.46}}, {{1, 1}, {130.18, 130.41}}});
  EXPECT_NEAR(run.seconds, 135.41, 1e-9);
  // No rank needs the inverses of another one, but all need the counts of
  // tries.
  run = simulateStep(model, makeCosts(), plan, KfacStep::inverses);
  for (const auto &[key, interval] :
       getTimes(run, KfacActivity::broadcastInverses))
    EXPECT_NEAR(interval.second - interval.first, 0.1, 1e-9);
}

TEST(KfacStepByBlocksTest, measuresLocalStatisticsEverywhere) {
  KfacModel model = makeTwoLayers();
  for (KfacFactor &factor : model.factors)
    factor.mean = 0.25;
  KfacPlan plan = makePlan(model, KfacPlacement::local, {1, 2});
  KfacRun run = simulateStep(model, makeCosts(), plan, KfacStep::factors);
  expectTimes(
      run, KfacActivity::backward,
      {{{kEveryRank, 1}, {105.5, 111.5}}, {{kEveryRank, 0}, {111.5, 113.75}}});
  // Each rank computes the running means of its own factors.
  expectTimes(run, KfacActivity::average,
              {{{0, 0}, {113.93, 114.43}}, {{1, 0}, {113.93, 114.43}}});
  EXPECT_TRUE(getTimes(run, KfacActivity::reduceFactors).empty());
}

TEST(KfacStepByBlocksTest, sumsUpTheLastMicroBatch) {
  KfacModel model = makeTwoLayers();
  model.microBatches = 2;
  KfacPlan plan = makePlan(model, KfacPlacement::balanced, {2, 1});
  KfacRun run = simulateStep(model, makeCosts(), plan, KfacStep::factors);
  // The lead also contains the first of the two micro-batches: half of the time
  // of forwards, backwards and statistics.
  expectTimes(run, KfacActivity::lead,
              {{{kEveryRank, 0}, {0, 100 + 13.75 / 2}}});
  expectTimes(run, KfacActivity::forward,
              {{{kEveryRank, 0}, {106.875, 107.625}},
               {{kEveryRank, 1}, {107.625, 109.625}}});
  Times sums = getTimes(run, KfacActivity::reduceFactors);
  EXPECT_NEAR(sums.at({kEveryRank, 0}).first, 109.625, 1e-9);
  EXPECT_NEAR(plan.buckets.front().begin, 109.625, 1e-9);
}

TEST(KfacStepByBlocksTest, invertsSharedFactorsForEachLayer) {
  KfacModel model = makeTwoLayers();
  // The second layer has the same input as the first one, so both share its
  // factor.
  model.factors.erase(model.factors.begin() + 2);
  model.layers[1].factors = {0, 2};
  model.factors[0].inverses = 2;
  KfacPlan plan;
  plan.grid = {2, 1};
  plan.columns = {{0, 0}, {0, 0, 0}};
  plan.owners = {0, 0, 1};
  plan.buckets = getBucketTimes(
      getBucketProblem(model, makeCosts(), plan.readyOrder), {1, 1, 1});
  auto getSeconds = [&](int64_t rank) {
    double seconds = 0;
    for (const KfacEvent &event :
         simulateStep(model, makeCosts(), plan, KfacStep::inverses).events)
      if (event.activity == KfacActivity::invert && event.rank == rank)
        seconds += event.end - event.begin;
    return seconds;
  };
  EXPECT_NEAR(getSeconds(0), 64 + 8 + 64, 1e-9);
  EXPECT_NEAR(getSeconds(1), 1, 1e-9);
  EXPECT_EQ(model.getMatrices()[0].count, 2);
  // Eigenvectors don't depend on the layer, so they are computed once. They are
  // sent and stored as whole matrices.
  model.factors[0].inverses = 1;
  model.numbersPerElement = 2;
  EXPECT_NEAR(getSeconds(0), 64 + 8, 1e-9);
  EXPECT_EQ(getMemory(model, makeCosts(), plan, 0).factors, 4 * 14);
  EXPECT_EQ(getMemory(model, makeCosts(), plan, 0).inverses, 8 * 14);
}

TEST(KfacStepByBlocksTest, sendsLongSumsInParts) {
  TransferCost cost{0.5, 0.25, 4};
  EXPECT_EQ(cost.getSeconds(0), 0.5);
  EXPECT_EQ(cost.getSeconds(4), 1.5);
  EXPECT_EQ(cost.getSeconds(5), 2.25);
  cost.mostElements = 0;
  EXPECT_EQ(cost.getSeconds(5), 1.75);
}
