//===- MeasuredKfacTest.cpp - Measured costs of K-FAC ---------------------===//

#include "Hfta/Planning/Kfac/MeasuredKfac.h"

#include "Kfac/TestKfacModels.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

/// Makes the measured costs of a program with 4 micro-batches of 2 samples. Its
/// two copies take turns, and only one of them is due for inversions.
static MeasuredCosts makeMeasured() {
  MeasuredCosts costs;
  costs.copies = 2;
  costs.batch = 8;
  costs.microBatches = 4;
  // Each task has its mean seconds, runs and copies per step. A quarter of the
  // steps compute moments of factors.
  costs.tasks = {{"forward.0", {6, 6, 6}},
                 {"forward_moments.0", {5, 2, 2}},
                 {"forward.1", {12, 6, 6}},
                 {"forward_moments.1", {4, 2, 2}},
                 {"shared_moments.0", {1, 1, 2}},
                 {"backward.0", {6, 6, 6}},
                 {"backward_moments.0", {4, 2, 2}},
                 {"backward_moments.1", {20, 8, 8}},
                 {"curvature.0", {1, 0.5, 0.5}},
                 {"invert.0.on_0", {9, 0.5, 0.25}},
                 {"invert.0.on_1", {1, 0.5, 0.25}},
                 {"precondition.1", {3, 1, 1}},
                 {"norm.0", {1, 2, 2}},
                 {"update.0", {2, 2, 2}},
                 {"update.1", {2, 2, 2}},
                 {"clip", {1, 1, 2}},
                 {"scale", {1, 1, 2}},
                 {"statistics.1", {1, 4, 8}},
                 {"combine.0", {0.25, 3, 50}},
                 {"combine_moments_1.0", {0.5, 3, 50}},
                 {"combine_results", {100, 3, 50}}};
  return costs;
}

static KfacRates makeRates() {
  KfacRates rates;
  rates.inversions = {{1, 0, 1}, {2, 0, 8}, {4, 0, 64}};
  rates.reduceFactors = rates.reduceGradients = {0.1, 0.01};
  rates.message = {0.1, 0.01};
  return rates;
}

static KfacWorkload makeWorkload() {
  KfacWorkload workload;
  workload.ranks = 2;
  workload.batch = 16;
  workload.copies = 2;
  workload.groups = 3;
  workload.elementsOfPart = 10;
  return workload;
}

TEST(MeasuredKfacTest, putsMeasuredTimesInTheirPlace) {
  KfacModel model = makeTwoLayers();
  model.factors[0].mean = 3;
  model.factors[1].mean = 1;
  model.factors[2].mean = 7;
  KfacRates rates = makeRates();
  llvm::Error error = measureKfac(makeMeasured(), makeWorkload(), model, rates);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  // A micro-batch of both copies takes 2 s. A rank has 8 samples, which are 4
  // micro-batches.
  EXPECT_DOUBLE_EQ(model.blocks[0].forward, 4 * 2);
  EXPECT_DOUBLE_EQ(model.blocks[1].forward, 4 * 4);
  // The forward with moments takes 3 s longer than the one without; the moments
  // of shared inputs take 1 s more.
  EXPECT_DOUBLE_EQ(model.factors[0].moment, 4 * (3 + 1));
  // If the version with moments doesn't take longer, the moments take 0 s, not
  // less.
  EXPECT_DOUBLE_EQ(model.factors[2].moment, 0);
  EXPECT_DOUBLE_EQ(model.blocks[0].backward, 4 * 2);
  EXPECT_DOUBLE_EQ(model.factors[1].moment, 4 * 2);
  // Only the backward with moments was measured. Its time is divided in the
  // ratio of the estimates, 4 to 2.
  EXPECT_DOUBLE_EQ(model.blocks[1].backward, 4 * 5 * 4 / 6.0);
  EXPECT_DOUBLE_EQ(model.factors[3].moment, 4 * 5 * 2 / 6.0);
  EXPECT_DOUBLE_EQ(model.factors[0].mean, 3);
  EXPECT_DOUBLE_EQ(model.factors[1].mean, 1);
  EXPECT_DOUBLE_EQ(model.factors[2].mean, 7); // not measured
  EXPECT_DOUBLE_EQ(model.layers[0].precondition, 10);
  EXPECT_DOUBLE_EQ(model.layers[1].precondition, 6);
  // The terms are scale, norm, clip, both updates, and the statistics of four
  // micro-batches.
  EXPECT_DOUBLE_EQ(model.update, 1 + 1 + 1 + 4 + 4 * 0.25);
  // Adding 10 elements takes 5 ms for gradients and 10 ms for moments. The sums
  // of three groups need two such additions, which two ranks share.
  EXPECT_DOUBLE_EQ(rates.reduceGradients.secondsPerElement, 0.01 + 0.0005);
  EXPECT_DOUBLE_EQ(rates.reduceFactors.secondsPerElement, 0.01 + 0.001);
  EXPECT_EQ(rates.reduceFactors.latency, 0.1);
}

TEST(MeasuredKfacTest, findsTheTimesOfSizes) {
  KfacModel model = makeTwoLayers(); // 4 and 2 rows, 3 and 1 rows
  KfacRates rates = makeRates();
  MeasuredCosts measured = makeMeasured();
  // Both layers together take 80 s, so the times of all sizes are scaled by the
  // same ratio.
  ASSERT_FALSE(bool(measureKfac(measured, makeWorkload(), model, rates)));
  KfacCosts costs = rates.getCosts();
  double ratio = 80.0 / (64 + 8);
  for (auto [size, cubes] : {std::pair(4, 64.0), {3, 27.0}, {2, 8.0}})
    EXPECT_NEAR(costs.invert(size, 1), ratio * cubes, 1e-9);
  EXPECT_NEAR(costs.invert(2, 3), ratio * 24, 1e-9);
  // If the sizes are in different blocks, each has its own ratio, here 2 and 4.
  model.factors = {{{4, 1}, 0, true, 0}, {{2, 1}, 1, true, 0}};
  model.layers = {{{kNoFactor, 0}, 1, 0}, {{kNoFactor, 1}, 1, 0}};
  measured.tasks["invert.0.on_0"] = {128, 1, 2};
  measured.tasks.erase("invert.0.on_1");
  measured.tasks["invert.1"] = {32, 1, 2};
  rates = makeRates();
  ASSERT_FALSE(bool(measureKfac(measured, makeWorkload(), model, rates)));
  EXPECT_NEAR(rates.getCosts().invert(4, 1), 128, 1e-6);
  EXPECT_NEAR(rates.getCosts().invert(2, 1), 32, 1e-6);
}

TEST(MeasuredKfacTest, keepsWhatWasNotMeasured) {
  KfacModel model = makeTwoLayers(), before = model;
  KfacRates rates = makeRates();
  MeasuredCosts measured = makeMeasured();
  measured.tasks.clear();
  measured.tasks["forward.0"] = {8, 0, 0};
  measured.tasks["forward.1"] = {8, 4, 0};
  ASSERT_FALSE(bool(measureKfac(measured, makeWorkload(), model, rates)));
  // If runs weren't counted, one run for all copies is assumed.
  EXPECT_DOUBLE_EQ(model.blocks[0].forward, 4 * 8);
  EXPECT_DOUBLE_EQ(model.blocks[1].forward, 4 * 2);
  EXPECT_EQ(model.blocks[1].backward, before.blocks[1].backward);
  EXPECT_EQ(model.factors[0].moment, before.factors[0].moment);
  EXPECT_EQ(model.layers[1].precondition, before.layers[1].precondition);
  EXPECT_EQ(model.update, before.update);
  EXPECT_EQ(rates.inversions.size(), 3u);
  EXPECT_EQ(rates.reduceFactors.secondsPerElement, 0.01);
}

/// Only programs with a single micro-batch per step precondition from rows.
TEST(MeasuredKfacTest, refusesStepsThatWorkWithRows) {
  KfacModel model = makeTwoLayers();
  KfacRates rates = makeRates();
  MeasuredCosts measured = makeMeasured();
  measured.tasks["precondition_rows.1"] = {1, 1, 1};
  EXPECT_EQ(llvm::toString(measureKfac(measured, makeWorkload(), model, rates)),
            "tasks: 'precondition_rows.1' works with rows, as steps of one "
            "micro-batch do: expected costs of a program with several");
}

TEST(MeasuredKfacTest, refusesOtherBlocks) {
  auto getError = [](const MeasuredCosts &measured) {
    KfacModel model = makeTwoLayers();
    KfacRates rates = makeRates();
    return llvm::toString(measureKfac(measured, makeWorkload(), model, rates));
  };
  MeasuredCosts measured = makeMeasured();
  measured.tasks["update.2"] = {1, 1, 1};
  EXPECT_EQ(getError(measured), "tasks: expected those of the program's 2 "
                                "blocks, got 'update.2'");
  measured = makeMeasured();
  measured.tasks.erase("forward.1");
  EXPECT_EQ(getError(measured), ""); // the version with moments is there
  measured.tasks.erase("forward_moments.1");
  EXPECT_EQ(getError(measured),
            "tasks: expected one with the name 'forward.1', for each of the "
            "program's 2 blocks");
}

TEST(MeasuredKfacTest, sendsToOneRankAfterTheOther) {
  KfacCosts costs = makeRates().getCosts();
  EXPECT_DOUBLE_EQ(costs.broadcast(5).latency, 0.1);
  EXPECT_DOUBLE_EQ(costs.broadcast(5).secondsPerElement, 0.04);
  EXPECT_DOUBLE_EQ(costs.broadcast(1).secondsPerElement, 0);
  EXPECT_TRUE(costs.isByBlocks);
}
