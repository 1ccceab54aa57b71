//===- DecideTest.cpp - Decisions at a level ------------------------------===//

#include "SearchTest.h"

extern "C" {
#include "search/population.h"
}

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <set>

using namespace hfta_test;

static Decisions decideHalving(const std::vector<double> &values,
                               int64_t eta = 3) {
  hfta_rule rule = halvingRule(9, eta);
  std::vector<hfta_score> scores = scoresOf(values);
  Decisions decisions(values.size());
  hfta_decide_halving(&rule, 1, scores.data(), int64_t(values.size()),
                      decisions.data());
  return decisions;
}

static Numbers keptBy(const Decisions &decisions) {
  return trialsWith(decisions, HFTA_VERDICT_GOES_ON);
}

TEST(Halving, KeepsTheBestOfAllThatHaveAScore) {
  EXPECT_EQ(keptBy(decideHalving({.8, .35, .8, .4, .9, .5, .55, .7})),
            (Numbers{1, 3}));
  EXPECT_EQ(keptBy(decideHalving({.5, .5, .5, .5, .5, .5})), (Numbers{0, 1}));
  EXPECT_EQ(keptBy(decideHalving({kNan, .5, kNan, .4, kInfinity, .6, .3})),
            (Numbers{3, 6}));
  EXPECT_EQ(keptBy(decideHalving({.9, .8, .7, .6, .5, .4, .3, .2, .1})),
            (Numbers{6, 7, 8}));
  EXPECT_EQ(keptBy(decideHalving({.5, -kInfinity, .4, .3})), (Numbers{3}));
  EXPECT_EQ(keptBy(decideHalving({.5, kNan, .4, .3, .6, .2, kNan, .7, .1})),
            (Numbers{3, 5, 8}));
  EXPECT_EQ(keptBy(decideHalving({.5, .4})), (Numbers{1}));
  EXPECT_EQ(keptBy(decideHalving({.5})), (Numbers{0}));
}

TEST(Halving, KeepsNoTrialThatIsNotFinite) {
  Decisions decisions =
      decideHalving({kNan, .5, kInfinity, -kInfinity, kNan, kNan}, 2);
  EXPECT_EQ(keptBy(decisions), (Numbers{1}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_FAILED),
            (Numbers{0, 2, 3, 4, 5}));
  EXPECT_TRUE(keptBy(decideHalving({kNan, kNan})).empty());
}

TEST(Halving, SaysWhoBeatWhom) {
  EXPECT_EQ(textOf(decideHalving({.8, .35, .8, .4, .9, .5, kNan})),
            "trial 1 at 1 goes on score 0.34999999999999998 rank 0 of 7 kept 2 "
            "rival 3 0.40000000000000002\n"
            "trial 3 at 1 goes on score 0.40000000000000002 rank 1 of 7 kept 2 "
            "rival 5 0.5\n"
            "trial 5 at 1 dropped score 0.5 rank 2 of 7 kept 2 "
            "rival 3 0.40000000000000002\n"
            "trial 0 at 1 dropped score 0.80000000000000004 rank 3 of 7 kept 2 "
            "rival 3 0.40000000000000002\n"
            "trial 2 at 1 dropped score 0.80000000000000004 rank 4 of 7 kept 2 "
            "rival 3 0.40000000000000002\n"
            "trial 4 at 1 dropped score 0.90000000000000002 rank 5 of 7 kept 2 "
            "rival 3 0.40000000000000002\n"
            "trial 6 at 1 failed score nan rank 6 of 7 kept 2 "
            "rival 3 0.40000000000000002\n");
}

static Numbers decidePercentile(double percentile,
                                const std::vector<double> &values,
                                const std::vector<double> &means,
                                hfta_direction direction = HFTA_MINIMIZE) {
  hfta_rule rule = percentileRule(9, percentile);
  rule.direction = direction;
  std::vector<hfta_score> scores = scoresOf(values), all = scoresOf(means);
  Decisions decisions(values.size());
  hfta_decide_percentile(&rule, 2, scores.data(), all.data(),
                         int64_t(values.size()), decisions.data());
  return trialsWith(decisions, HFTA_VERDICT_GOES_ON);
}

TEST(Percentile, TheBoundIsSomeTrialsRunningMean) {
  // The second of three, and of four.
  EXPECT_EQ(decidePercentile(50, {.8, .7, .9}, {.9, .85, .95}),
            (Numbers{0, 1, 2}));
  EXPECT_EQ(decidePercentile(50, {.85, .9, .95, .8}, {.9, .85, .95, .8}),
            (Numbers{0, 3}));
  EXPECT_EQ(decidePercentile(50, {.84, .86, .85, .8}, {.9, .85, .95, .8}),
            (Numbers{0, 2, 3}));
  // One score that equals the bound stays.
  EXPECT_EQ(decidePercentile(25, {.7, .71, .9, .9}, {.9, .7, .95, .8}),
            (Numbers{0}));
  EXPECT_EQ(decidePercentile(100, {.7, .95, .96, .9}, {.9, .7, .95, .8}),
            (Numbers{0, 1, 3}));
  EXPECT_EQ(decidePercentile(1, {.7, .95}, {.9, .8}), (Numbers{0}));
  EXPECT_EQ(decidePercentile(50, {.8, .7, .9}, {.6, .75, .5}, HFTA_MAXIMIZE),
            (Numbers{0, 1, 2}));
  EXPECT_EQ(decidePercentile(50, {.8, .5, .9}, {.6, .75, .5}, HFTA_MAXIMIZE),
            (Numbers{0, 2}));
  EXPECT_EQ(decidePercentile(50, {.5}, {.5}), (Numbers{0}));
}

// The running means of curves that get worse are better than all scores.
TEST(Percentile, TheBestAlwaysGoesOn) {
  EXPECT_EQ(decidePercentile(50, {.602, .6, .601}, {.502, .5, .501}),
            (Numbers{1}));
  EXPECT_EQ(decidePercentile(50, {.4, .3}, {.6, .5}, HFTA_MAXIMIZE),
            (Numbers{0}));
  EXPECT_EQ(decidePercentile(50, {.6}, {.5}), (Numbers{0}));
  EXPECT_EQ(decidePercentile(50, {kNan}, {kNan}), (Numbers{}));
}

TEST(Percentile, OneNanStopsNobodyElse) {
  EXPECT_EQ(decidePercentile(50, {kNan, .7, .9}, {kNan, .8, .9}),
            (Numbers{1, 2}));
  EXPECT_EQ(decidePercentile(50, {kNan, kNan, .9}, {kNan, kNan, .9}),
            (Numbers{2}));
}

TEST(Percentile, RanksAreExact) {
  // 0.29 * 100 is below 29 in doubles.
  std::vector<double> values(100), means(100);
  for (int i = 0; i < 100; ++i)
    values[i] = means[i] = i;
  for (int percent = 1; percent <= 100; ++percent)
    EXPECT_EQ(decidePercentile(percent, values, means).size(), size_t(percent));
  EXPECT_EQ(decidePercentile(28.5, values, means).size(), 29u);
}

/// Returns "trial<donor" for each that is replaced.
static std::string replacedIn(const std::vector<double> &values,
                              hfta_direction direction = HFTA_MAXIMIZE,
                              double quantile = .25, uint64_t seed = 1,
                              const Numbers &withdrawn = {}) {
  hfta_rule rule = populationRule(9, quantile, direction);
  rule.seed = seed;
  std::vector<hfta_score> scores = scoresOf(values);
  Decisions decisions(values.size());
  std::vector<hfta_score> left;
  for (const hfta_score &score : scores)
    if (std::count(withdrawn.begin(), withdrawn.end(), score.trial) == 0)
      left.push_back(score);
  hfta_decide_population(&rule, 0, 1, scores.data(), int64_t(values.size()),
                         left.data(), int64_t(left.size()), decisions.data());
  std::sort(decisions.begin(), decisions.end(),
            [](const hfta_decision &one, const hfta_decision &other) {
              return one.trial < other.trial;
            });
  std::string text;
  for (const hfta_decision &decision : decisions)
    if (decision.verdict == HFTA_VERDICT_REPLACED)
      text += std::to_string(decision.trial) + "<" +
              std::to_string(decision.rival) + " ";
  return text;
}

TEST(Population, ReplacesTheWorstByOneOfTheBest) {
  // Two are replaced, each by trial 5 or 1.
  bool seen[2] = {};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::string text =
        replacedIn({.5, .9, .1, .7, .3, .8, .2, .6}, HFTA_MAXIMIZE, .25, seed);
    EXPECT_TRUE(text == "2<1 6<1 " || text == "2<1 6<5 " ||
                text == "2<5 6<1 " || text == "2<5 6<5 ")
        << text;
    seen[0] |= text.find("2<1") != std::string::npos;
    seen[1] |= text.find("2<5") != std::string::npos;
  }
  EXPECT_TRUE(seen[0] && seen[1]);
  EXPECT_EQ(replacedIn({1, 2, 3, 4, 5}), "0<4 ");
  EXPECT_EQ(replacedIn({1, 2, 3}, HFTA_MAXIMIZE, .5), "0<2 ");
  EXPECT_EQ(replacedIn({1, 2, 3}, HFTA_MINIMIZE, .5), "2<0 ");
  EXPECT_EQ(replacedIn({1}), "");
}

TEST(Population, EqualTrialsAreNotReplaced) {
  EXPECT_EQ(replacedIn({.5, .5, .5, .5}), "");
  EXPECT_EQ(replacedIn({kNan, kNan, kNan}), "");
}

TEST(Population, AllThatAreNotFiniteAreReplaced) {
  EXPECT_EQ(replacedIn({.5, kNan, .1, .7}), "1<3 ");
  EXPECT_EQ(replacedIn({.5, -kInfinity, .1, .7}), "1<3 ");
  EXPECT_EQ(replacedIn({kInfinity, kNan, .1, kNan}), "0<2 1<2 3<2 ");
  EXPECT_EQ(replacedIn({.5, kNan}, HFTA_MINIMIZE), "1<0 ");
}

TEST(Population, TrialsThatHaveEndedAreNoDonors) {
  auto replaced = [](const std::vector<double> &values,
                     const Numbers &withdrawn) {
    std::set<std::string> seen;
    for (uint64_t seed = 0; seed < 30; ++seed)
      seen.insert(replacedIn(values, HFTA_MINIMIZE, .4, seed, withdrawn));
    return seen;
  };
  using Texts = std::set<std::string>;
  EXPECT_EQ(replaced({1, 2, 3, 4, 5}, {}),
            (Texts{"3<0 4<0 ", "3<0 4<1 ", "3<1 4<0 ", "3<1 4<1 "}));
  EXPECT_EQ(replaced({1, 2, 3, 4, 5}, {0}),
            (Texts{"3<1 4<1 ", "3<1 4<2 ", "3<2 4<1 ", "3<2 4<2 "}));
  // Trial 3 is one of the two worst, but the best that is left. It is no donor
  // beside trial 2.
  EXPECT_EQ(replaced({1, 2, 3, 4, 5}, {0, 1}), (Texts{"3<2 4<2 "}));
  EXPECT_EQ(replaced({1, 2, 3, 4, kNan}, {0, 1, 2}), (Texts{"4<3 "}));
  EXPECT_EQ(replaced({1, 2, 3, kNan, kNan}, {0, 1, 2}), (Texts{""}));
}

TEST(Population, CountsByWholeTrials) {
  hfta_rule rule = populationRule(9, .29);
  EXPECT_EQ(hfta_population_replaced(&rule, 100), 29);
  EXPECT_EQ(hfta_population_replaced(&rule, 3), 1);
  EXPECT_EQ(hfta_population_replaced(&rule, 1), 0);
  rule.quantile = .5;
  EXPECT_EQ(hfta_population_replaced(&rule, 9), 4);
}

TEST(Population, DecidesTheSameForEachOrderOfScores) {
  std::mt19937 random(1);
  hfta_rule rule = populationRule(9, .3);
  std::vector<hfta_score> scores;
  for (int64_t i = 0; i < 20; ++i)
    scores.push_back({i, i % 6 == 0 ? kNan : double(i % 4)});
  std::string expected;
  for (int round = 0; round < 20; ++round) {
    std::shuffle(scores.begin(), scores.end(), random);
    std::vector<hfta_score> sorted = scores, left = scores;
    Decisions decisions(20);
    hfta_decide_population(&rule, 3, 4, sorted.data(), 20, left.data(), 20,
                           decisions.data());
    expected = round == 0 ? textOf(decisions) : expected;
    EXPECT_EQ(textOf(decisions), expected);
  }
}
