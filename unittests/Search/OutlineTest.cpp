//===- OutlineTest.cpp - What a search will do ----------------------------===//

#include "SearchTest.h"

#include "hfta/search_outline.h"

#include <gtest/gtest.h>

using namespace hfta_test;

namespace {

const double kChoices[] = {0.25, 0.5, 1};

/// A search of one choice and one range; a grid needs choices alone.
struct Outline : testing::Test {
  hfta_search_setting settings[2] = {};
  hfta_search search = {};
  hfta_error error = {};

  Outline() {
    settings[0].name = "rate";
    settings[0].distribution = HFTA_CHOICE;
    settings[0].choices = kChoices;
    settings[0].choice_count = 3;
    settings[1].name = "lr";
    settings[1].distribution = HFTA_LOG_UNIFORM;
    settings[1].low = 1e-3;
    settings[1].high = 1e-1;
    settings[0].zip = settings[1].zip = HFTA_NO_ZIP;
    search.settings = settings;
    search.setting_count = 2;
    search.trials = 81;
    search.rule = halvingRule(9);
    search.array_count = 1;
    search.sampler = {HFTA_SAMPLER_RANDOM, HFTA_MINIMIZE, 1, 10, 8};
  }
};

} // namespace

TEST_F(Outline, PopulationsCantChangePackedSettings) {
  settings[0].is_packed = 1;
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_OK);
  search.rule.kind = HFTA_RULE_POPULATION;
  search.rule.every = 1;
  search.rule.quantile = 0.25;
  search.rule.factors[0] = 0.5;
  search.rule.factors[1] = 1.5;
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_UNSUPPORTED);
  EXPECT_EQ(std::string(error.message).substr(0, 5), "rate:");
  settings[0].is_packed = 0;
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_OK);
}

TEST_F(Outline, ChecksAllParts) {
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_OK);
  search.trials = 0;
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_INVALID_INPUT);
  EXPECT_EQ(std::string(error.message).substr(0, 7), "trials:");
  search.trials = 81;
  search.sampler.kind = HFTA_SAMPLER_GRID;
  EXPECT_EQ(hfta_search_check(&search, &error), HFTA_INVALID_INPUT);
  settings[1].high = settings[1].low;
  EXPECT_EQ(hfta_search_check_settings(&search, &error), HFTA_INVALID_INPUT);
  EXPECT_EQ(std::string(error.message).substr(0, 3), "lr:");
}

TEST_F(Outline, CountsTrialsOfGridAndHyperband) {
  EXPECT_EQ(hfta_search_own_trials(&search), 0);
  search.rule = hyperbandRule(9);
  EXPECT_EQ(hfta_search_own_trials(&search), 17);
  search.rule.grace = 10;
  EXPECT_EQ(hfta_search_own_trials(&search), 0);
  search.sampler.kind = HFTA_SAMPLER_GRID;
  search.setting_count = 1;
  EXPECT_EQ(hfta_search_own_trials(&search), 3);
}

TEST_F(Outline, MeasuresASearch) {
  hfta_search_size size;
  hfta_search_measure(&search, &size);
  EXPECT_EQ(size.brackets, 1);
  EXPECT_EQ(size.rungs, 3);
  EXPECT_FALSE(size.is_uneven);
  EXPECT_EQ(size.least_units, 189);
  EXPECT_EQ(size.most_units, 189);
  EXPECT_EQ(size.full_units, 729);
  EXPECT_EQ(size.held, 27);
  EXPECT_EQ(hfta_search_level(&search, 1), 3);
}

TEST_F(Outline, GivesExamplesWithoutScores) {
  for (uint32_t kind : {HFTA_SAMPLER_RANDOM, HFTA_SAMPLER_SOBOL,
                        HFTA_SAMPLER_HALTON, HFTA_SAMPLER_TPE}) {
    search.sampler.kind = kind;
    for (int64_t trial : {0, 1, 50}) {
      double values[2];
      ASSERT_EQ(hfta_search_example(&search, trial, values, &error), HFTA_OK);
      EXPECT_TRUE(values[0] == 0.25 || values[0] == 0.5 || values[0] == 1);
      EXPECT_TRUE(values[1] >= 1e-3 && values[1] <= 1e-1);
    }
  }
}
