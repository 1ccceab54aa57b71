//===- RuleTest.cpp - Levels, brackets and sizes --------------------------===//

#include "SearchTest.h"

#include "gtest/gtest.h"

using namespace hfta_test;

static Numbers levelsOf(const hfta_rule &rule) {
  Numbers levels;
  for (int64_t i = 0; i < hfta_rule_rungs(&rule); ++i)
    levels.push_back(hfta_rule_level(&rule, i));
  return levels;
}

TEST(Rule, LevelsAreCountedByMultiplication) {
  EXPECT_EQ(levelsOf(halvingRule(9)), (Numbers{1, 3, 9}));
  // log(243) / log(3) is below 5 in doubles.
  EXPECT_EQ(levelsOf(halvingRule(243)), (Numbers{1, 3, 9, 27, 81, 243}));
  EXPECT_EQ(levelsOf(halvingRule(10)), (Numbers{1, 3, 9, 10}));
  EXPECT_EQ(levelsOf(halvingRule(20, 4, 3)), (Numbers{3, 12, 20}));
  EXPECT_EQ(levelsOf(halvingRule(5, 2, 5)), (Numbers{5}));
  EXPECT_EQ(levelsOf(halvingRule(1)), (Numbers{1}));
  EXPECT_EQ(levelsOf(percentileRule(5, 50)), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(levelsOf(percentileRule(9, 50, 3, 2)), (Numbers{4, 6, 8, 9}));
  EXPECT_EQ(levelsOf(percentileRule(8, 50, 8, 3)), (Numbers{8}));
  hfta_rule population = populationRule(7);
  population.every = 3;
  EXPECT_EQ(levelsOf(population), (Numbers{3, 6, 7}));
  hfta_rule none = {};
  none.units = 4;
  EXPECT_EQ(levelsOf(none), (Numbers{4}));
}

/// Returns the trials and levels of all brackets, as "9@1 3@3 1@9; 5@3 1@9".
static std::string bracketsOf(const hfta_rule &rule, int64_t trials = 0) {
  std::string text;
  for (int64_t i = 0; i < hfta_rule_brackets(&rule); ++i) {
    hfta_bracket bracket = hfta_rule_bracket(&rule, trials, i);
    int64_t left = bracket.trials;
    text += i ? "; " : "";
    for (int64_t j = 0; j < bracket.rungs; ++j) {
      text += (j ? " " : "") + std::to_string(left) + "@" +
              std::to_string(hfta_rule_level(&rule, bracket.first_rung + j));
      left = hfta_rule_kept(&rule, left);
    }
  }
  return text;
}

// These are the brackets of the paper's table for R = 81, and of its formulas
// for others.
TEST(Rule, BracketsOfHyperband) {
  EXPECT_EQ(bracketsOf(hyperbandRule(9)), "9@1 3@3 1@9; 5@3 1@9; 3@9");
  EXPECT_EQ(bracketsOf(hyperbandRule(27)),
            "27@1 9@3 3@9 1@27; 12@3 4@9 1@27; 6@9 2@27; 4@27");
  EXPECT_EQ(bracketsOf(hyperbandRule(81)),
            "81@1 27@3 9@9 3@27 1@81; 34@3 11@9 3@27 1@81; 15@9 5@27 1@81; "
            "8@27 2@81; 5@81");
  EXPECT_EQ(bracketsOf(hyperbandRule(243)),
            "243@1 81@3 27@9 9@27 3@81 1@243; 98@3 32@9 10@27 3@81 1@243; "
            "41@9 13@27 4@81 1@243; 18@27 6@81 2@243; 9@81 3@243; 6@243");
  EXPECT_EQ(bracketsOf(hyperbandRule(1)), "1@1");
  // If R isn't a power of eta, there are as many brackets as for the power
  // below, and the same trials; R is one more level.
  EXPECT_EQ(bracketsOf(hyperbandRule(10)),
            "9@1 3@3 1@9 1@10; 5@3 1@9 1@10; 3@9 1@10");
  EXPECT_EQ(bracketsOf(hyperbandRule(28)),
            "27@1 9@3 3@9 1@27 1@28; 12@3 4@9 1@27 1@28; 6@9 2@27 1@28; "
            "4@27 1@28");
  EXPECT_EQ(bracketsOf(hyperbandRule(26)),
            "9@1 3@3 1@9 1@26; 5@3 1@9 1@26; 3@9 1@26");
  EXPECT_EQ(bracketsOf(hyperbandRule(20, 3, 2)),
            "9@2 3@6 1@18 1@20; 5@6 1@18 1@20; 3@18 1@20");
  EXPECT_EQ(bracketsOf(halvingRule(9), 81), "81@1 27@3 9@9");
  EXPECT_EQ(bracketsOf(halvingRule(9), 2), "2@1 1@3 1@9");
}

TEST(Rule, SizesOfHyperband) {
  const int64_t expected[][4] = {
      {9, 17, 69, 4}, {27, 49, 357, 15}, {81, 143, 1581, 45}};
  for (const int64_t *row : expected) {
    hfta_rule rule = hyperbandRule(row[0]);
    hfta_rule_size size = hfta_rule_count(&rule, hfta_rule_trials(&rule));
    EXPECT_EQ(size.trials, row[1]);
    EXPECT_EQ(size.least_units, row[2]);
    EXPECT_EQ(size.most_units, row[2]);
    EXPECT_EQ(size.held, row[3]);
    EXPECT_EQ(size.brackets, size.rungs);
  }
  hfta_rule rule = hyperbandRule(243);
  EXPECT_EQ(hfta_rule_brackets(&rule), 6);
  EXPECT_EQ(hfta_rule_trials(&rule), 415);
  rule = hyperbandRule(82);
  EXPECT_EQ(hfta_rule_brackets(&rule), 5);
  EXPECT_EQ(hfta_rule_rungs(&rule), 6);
  EXPECT_EQ(hfta_rule_trials(&rule), 143);
}

TEST(Rule, SizesOfHalving) {
  const int64_t expected[][2] = {{9, 189}, {27, 243}, {81, 297}};
  for (const int64_t *row : expected) {
    hfta_rule rule = halvingRule(row[0]);
    hfta_rule_size size = hfta_rule_count(&rule, 81);
    EXPECT_EQ(size.least_units, row[1]);
    EXPECT_EQ(size.most_units, row[1]);
    EXPECT_EQ(size.held, 27);
  }
}

TEST(Rule, SaysWhetherTheLastLevelIsUneven) {
  for (auto [units, isUneven] : std::vector<std::pair<int64_t, bool>>{
           {1, false}, {2, true}, {9, false}, {10, true}, {243, false}}) {
    hfta_rule rule = halvingRule(units);
    EXPECT_EQ(hfta_rule_count(&rule, 9).is_uneven, isUneven) << units;
  }
  hfta_rule rule = percentileRule(10, 50, 1, 3);
  EXPECT_FALSE(hfta_rule_count(&rule, 9).is_uneven);
}

TEST(Rule, SizesOfOtherRules) {
  hfta_rule asha = ashaRule(9, 8);
  hfta_rule_size size = hfta_rule_count(&asha, 81);
  EXPECT_EQ(size.least_units, 189);
  EXPECT_EQ(size.most_units, 81 + 79 * 2 + 77 * 6);
  // Two levels keep 27 each, and each worker may have another one's state.
  EXPECT_EQ(size.held, 62);
  hfta_rule wide = ashaRule(9, 30);
  EXPECT_EQ(hfta_rule_count(&wide, 30).held, 30);
  hfta_rule median = percentileRule(9, 50, 2);
  size = hfta_rule_count(&median, 10);
  EXPECT_EQ(size.rungs, 8);
  EXPECT_EQ(size.least_units, 20);
  EXPECT_EQ(size.most_units, 90);
  EXPECT_EQ(size.held, 10);
  hfta_rule population = populationRule(9);
  size = hfta_rule_count(&population, 8);
  EXPECT_EQ(size.least_units, 72);
  EXPECT_EQ(size.most_units, 72);
  EXPECT_EQ(size.held, 8);
  hfta_rule none = {};
  none.units = 9;
  size = hfta_rule_count(&none, 8);
  EXPECT_EQ(size.least_units, 72);
  EXPECT_EQ(size.held, 0);
}

// The sizes of the longest rules that aren't refused are counted at once.
TEST(Rule, SizesOfManyLevels) {
  hfta_rule rule = percentileRule(2000000, 50);
  EXPECT_EQ(hfta_rule_check(&rule, 10, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_rule_count(&rule, 10).most_units, 20000000);
}

/// Returns the message about a rule that is refused.
static std::string refusalOf(const hfta_rule &rule, int64_t trials) {
  hfta_error error = {};
  EXPECT_EQ(hfta_rule_check(&rule, trials, &error), HFTA_INVALID_INPUT);
  return error.message;
}

TEST(Rule, RefusesWhatIsOutOfItsRange) {
  EXPECT_EQ(refusalOf(halvingRule(0), 1),
            "units: expected 1 to 1000000000, got 0");
  EXPECT_EQ(refusalOf(halvingRule(9), 0),
            "trials: expected 1 to 100000, got 0");
  EXPECT_EQ(refusalOf(halvingRule(9, 1), 9),
            "eta: expected 2 to 100000, got 1");
  EXPECT_EQ(refusalOf(halvingRule(9, 3, 10), 9),
            "grace: expected 1 to 9, got 10");
  EXPECT_EQ(refusalOf(ashaRule(9, 0), 9),
            "workers: expected 1 to 100000, got 0");
  EXPECT_EQ(refusalOf(hyperbandRule(9), 16),
            "trials: hyperband has 17, got 16");
  EXPECT_EQ(refusalOf(hyperbandRule(1000000000), 16),
            "hyperband: expected at most 100000 trials, got 598326563");
  EXPECT_EQ(refusalOf(percentileRule(9, 0), 9),
            "percentile: expected a number above 0, at most 100, got 0");
  EXPECT_EQ(refusalOf(percentileRule(9, 50, 0), 9),
            "grace: expected 1 to 9, got 0");
  EXPECT_EQ(refusalOf(percentileRule(9, 50, 1, 10), 9),
            "every: expected 1 to 9, got 10");
  EXPECT_EQ(refusalOf(percentileRule(1000000000, 50), 1),
            "levels: expected at most 20000000 scores, got 1000000000 levels "
            "of 1 trials");
  EXPECT_EQ(refusalOf(populationRule(20000001, .25), 1),
            "levels: expected at most 20000000 scores, got 20000001 levels "
            "of 1 trials");
  hfta_rule unknown = halvingRule(9);
  unknown.kind = hfta_rule_kind(6);
  EXPECT_EQ(refusalOf(unknown, 9), "kind: expected 0 to 5, got 6");
  unknown = halvingRule(9);
  unknown.direction = hfta_direction(2);
  EXPECT_EQ(refusalOf(unknown, 9), "direction: expected 0 to 1, got 2");
  EXPECT_EQ(refusalOf(populationRule(9, .51), 9),
            "quantile: expected a number above 0, at most 0.5, got 0.51");
  hfta_rule population = populationRule(9);
  population.resample = kNan;
  EXPECT_EQ(refusalOf(population, 9),
            "resample: expected a number from 0 to 1, got nan");
  population = populationRule(9);
  population.factors[0] = 1;
  EXPECT_EQ(refusalOf(population, 9), "factors: expected one from 0 to 1, and "
                                      "one above 1, got 1 and 1.2");
}
