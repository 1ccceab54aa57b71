//===- LearningRateTest.cpp - Tests of learning rate schedules ------------===//

#include "hfta/learning_rate.h"

#include "gtest/gtest.h"

#include <cmath>

static const double warmup[] = {0, 4};
static const double stepSize[] = {3, 2};
static const double gammas[] = {0.5, 0.1};
static const double minimum[] = {0, 0.25};

TEST(LearningRate, ConstantWithWarmUp) {
  hfta_learning_rate schedule = {
      HFTA_LEARNING_RATE_CONSTANT, 0, warmup, nullptr, nullptr, nullptr};
  EXPECT_FALSE(hfta_learning_rate_needs_total(&schedule));
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 0.1, 0, 10), 0.1);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 0.1, 0, 10), 0.1 * 1 / 4);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 0.1, 3, 10), 0.1 * 4 / 4);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 0.1, 4, 10), 0.1);
}

TEST(LearningRate, StepsCountFromTheEndOfTheWarmUp) {
  hfta_learning_rate schedule = {
      HFTA_LEARNING_RATE_STEP, 0, warmup, stepSize, gammas, nullptr};
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 1, 2, 0), 1);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 1, 3, 0), 0.5);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 1, 6, 0), 0.25);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 1, 3, 0), 1);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 1, 5, 0), 1);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 1, 6, 0), 0.1);
}

TEST(LearningRate, CosineEndsAtTheLastStep) {
  hfta_learning_rate schedule = {
      HFTA_LEARNING_RATE_COSINE, 0, warmup, nullptr, nullptr, minimum};
  EXPECT_TRUE(hfta_learning_rate_needs_total(&schedule));
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 2, 0, 11), 2);
  EXPECT_NEAR(hfta_learning_rate_at(&schedule, 0, 2, 5, 11), 1, 1e-15);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 2, 10, 11), 0);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 2, 15, 11), 0);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 2, 4, 11), 2);
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 1, 2, 10, 11), 0.5);
  EXPECT_NEAR(hfta_learning_rate_at(&schedule, 1, 2, 7, 11),
              2 * (0.25 + 0.75 * 0.5), 1e-15);
}

TEST(LearningRate, ATrainingOfOneStepTakesTheFullRate) {
  hfta_learning_rate schedule = {
      HFTA_LEARNING_RATE_COSINE, 0, nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(hfta_learning_rate_at(&schedule, 0, 3, 0, 1), 3);
}
