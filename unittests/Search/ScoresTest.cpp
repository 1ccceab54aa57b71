//===- ScoresTest.cpp - The order of trials -------------------------------===//

#include "SearchTest.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace hfta_test;

TEST(Scores, FiniteOnesByDirectionThenTheRestThenNumbers) {
  std::vector<double> values = {.5, kNan, .4, kInfinity, .4, -kInfinity, .6};
  EXPECT_EQ(sortTrials(HFTA_MINIMIZE, values), (Numbers{2, 4, 0, 6, 1, 3, 5}));
  EXPECT_EQ(sortTrials(HFTA_MAXIMIZE, values), (Numbers{6, 0, 2, 4, 1, 3, 5}));
}

TEST(Scores, TheOrderIsTotal) {
  const std::vector<double> values = {kNan, -kInfinity, kInfinity, 0, -0.0, 1};
  for (hfta_direction direction : {HFTA_MINIMIZE, HFTA_MAXIMIZE})
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        hfta_score one = {i, values[i]}, other = {j, values[j]};
        EXPECT_EQ(hfta_score_precedes(direction, one, other) +
                      hfta_score_precedes(direction, other, one),
                  i != j);
        for (int64_t k = 0; k < 6; ++k) {
          hfta_score third = {k, values[k]};
          if (hfta_score_precedes(direction, one, other) &&
              hfta_score_precedes(direction, other, third)) {
            EXPECT_TRUE(hfta_score_precedes(direction, one, third));
          }
        }
      }
}

TEST(Scores, SortingDoesNotDependOnTheOrderBefore) {
  std::mt19937 random(3);
  std::vector<hfta_score> scores;
  for (int64_t i = 0; i < 50; ++i)
    scores.push_back({i, i % 7 == 0 ? kNan : double(i % 5)});
  hfta_scores_sort(HFTA_MINIMIZE, scores.data(), 50);
  std::vector<hfta_score> shuffled = scores;
  for (int round = 0; round < 20; ++round) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    hfta_scores_sort(HFTA_MINIMIZE, shuffled.data(), 50);
    for (int i = 0; i < 50; ++i)
      EXPECT_EQ(shuffled[i].trial, scores[i].trial);
  }
}

TEST(Best, ImprovesStrictly) {
  hfta_best best = {};
  EXPECT_FALSE(hfta_best_note(&best, HFTA_MINIMIZE, 0, 1, kNan));
  EXPECT_TRUE(hfta_best_note(&best, HFTA_MINIMIZE, 0, 2, .5));
  EXPECT_FALSE(hfta_best_note(&best, HFTA_MINIMIZE, 0, 3, .5));
  EXPECT_FALSE(hfta_best_note(&best, HFTA_MINIMIZE, 0, 4, -kInfinity));
  EXPECT_TRUE(hfta_best_note(&best, HFTA_MINIMIZE, 0, 5, .25));
  EXPECT_FALSE(hfta_best_note(&best, HFTA_MINIMIZE, .125, 6, .125));
  EXPECT_TRUE(hfta_best_note(&best, HFTA_MINIMIZE, .125, 7, .0625));
  EXPECT_EQ(best.level, 7);
  EXPECT_EQ(best.value, .0625);
  for (double least : {kInfinity, -kInfinity, kNan})
    EXPECT_FALSE(hfta_best_note(&best, HFTA_MINIMIZE, least, 8, -1));
  hfta_best largest = {};
  EXPECT_TRUE(hfta_best_note(&largest, HFTA_MAXIMIZE, .125, 1, .5));
  EXPECT_FALSE(hfta_best_note(&largest, HFTA_MAXIMIZE, .125, 2, .625));
  EXPECT_TRUE(hfta_best_note(&largest, HFTA_MAXIMIZE, .125, 3, .75));
  for (double least : {kInfinity, -kInfinity, kNan})
    EXPECT_FALSE(hfta_best_note(&largest, HFTA_MAXIMIZE, least, 4, 1));
}

/// Returns the evaluation, counted from 1, after which a trial should stop; 0:
/// none.
static int stopOf(int64_t patience, const std::vector<double> &values,
                  double least = 0, hfta_direction direction = HFTA_MINIMIZE) {
  hfta_patience state = {};
  for (size_t i = 0; i < values.size(); ++i)
    if (hfta_patience_note(&state, direction, patience, least, int64_t(i) + 1,
                           values[i]))
      return int(i) + 1;
  return 0;
}

TEST(Patience, StopsAsKerasDoes) {
  EXPECT_EQ(stopOf(2, {1, .9, .95, .95, .95}), 4);
  EXPECT_EQ(stopOf(2, {1, .9, .9, .9, .9, .9}), 4);
  EXPECT_EQ(stopOf(0, {1, 1.1}), 2);
  EXPECT_EQ(stopOf(1, {1, .9, .8, .85}), 4);
  EXPECT_EQ(stopOf(2, {1, 1.1, .9, 1, .8, .9}), 0);
  EXPECT_EQ(stopOf(2, {1, kNan, kNan}), 3);
  EXPECT_EQ(stopOf(2, {kNan, .5, .4, .3}), 0);
  EXPECT_EQ(stopOf(2, {1, .99, .98}, .1), 3);
  EXPECT_EQ(stopOf(2, {.1, .2, .2, .15}, 0, HFTA_MAXIMIZE), 4);
}
