//===- SamplerTest.cpp - Settings of trials -------------------------------===//

#include "SearchTest.h"

extern "C" {
#include "search/draw.h"
#include "search/population.h"
#include "search/sampler.h"
}

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace hfta_test;

static hfta_search_setting numbers(hfta_distribution distribution, double low,
                                   double high, double step = 0) {
  hfta_search_setting setting = {};
  setting.name = "x";
  setting.distribution = distribution;
  setting.low = low;
  setting.high = high;
  setting.step = step;
  setting.zip = HFTA_NO_ZIP;
  return setting;
}

static hfta_search_setting choices(const std::vector<double> &values,
                                   int64_t zip = HFTA_NO_ZIP,
                                   const char *name = "x") {
  hfta_search_setting setting = {};
  setting.name = name;
  setting.distribution = HFTA_CHOICE;
  setting.choices = values.data();
  setting.choice_count = int64_t(values.size());
  setting.zip = zip;
  return setting;
}

static hfta_sampler samplerOf(hfta_sampler_kind kind, uint64_t seed = 1) {
  hfta_sampler sampler = {};
  sampler.kind = kind;
  sampler.seed = seed;
  sampler.startup = 10;
  sampler.batch = 8;
  return sampler;
}

static std::vector<double> draw(const hfta_sampler &sampler,
                                const std::vector<hfta_search_setting> &list,
                                int64_t trial) {
  hfta_search_space space = {list.data(), int64_t(list.size())};
  std::vector<double> values(list.size(), kNan);
  EXPECT_EQ(hfta_sampler_draw(&sampler, &space, trial, nullptr, values.data(),
                              nullptr),
            HFTA_OK);
  return values;
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

/// Returns how often each value of a setting is drawn.
static std::map<double, int> countValues(const hfta_search_setting &setting,
                                         int64_t trials,
                                         hfta_sampler_kind kind) {
  std::map<double, int> counts;
  for (int64_t i = 0; i < trials; ++i)
    ++counts[draw(samplerOf(kind), {setting}, i)[0]];
  return counts;
}

TEST(Distribution, GridValuesAreAllAlikeLikely) {
  std::vector<double> list = {3, 1, 4, 1.5};
  for (const hfta_search_setting &setting :
       {numbers(HFTA_UNIFORM, 0, 1, .25), numbers(HFTA_INTEGERS, -2, 2),
        numbers(HFTA_INTEGERS, 10, 20, 3), choices(list)}) {
    int64_t values = hfta_setting_values(&setting);
    std::map<double, int> counts =
        countValues(setting, 4096, HFTA_SAMPLER_RANDOM);
    EXPECT_EQ(counts.size(), size_t(values));
    for (auto [value, count] : counts)
      EXPECT_NEAR(count, 4096.0 / double(values), 120) << value;
    for (auto [value, count] : countValues(setting, 4096, HFTA_SAMPLER_SOBOL))
      EXPECT_NEAR(count, 4096.0 / double(values), 2) << value;
  }
}

TEST(Distribution, BothEndsOfAGridAreValues) {
  hfta_search_setting tenths = numbers(HFTA_UNIFORM, 0, .3, .1);
  EXPECT_EQ(hfta_setting_values(&tenths), 4);
  EXPECT_EQ(hfta_setting_at(&tenths, 0), 0);
  EXPECT_EQ(hfta_setting_at(&tenths, .25), .1);
  EXPECT_EQ(hfta_setting_at(&tenths, 1 - 0x1p-53), .3);
  hfta_search_setting many = numbers(HFTA_UNIFORM, 0, 21398164 * .1, .1);
  EXPECT_EQ(hfta_setting_values(&many), 21398165);
  EXPECT_EQ(hfta_setting_at(&many, 1 - 0x1p-53), 21398164 * .1);
  hfta_search_setting uneven = numbers(HFTA_UNIFORM, 0, 1, .3);
  EXPECT_EQ(hfta_setting_values(&uneven), 4);
  EXPECT_EQ(hfta_setting_at(&uneven, .99), 3 * .3);
  hfta_search_setting whole = numbers(HFTA_INTEGERS, 1, 3);
  EXPECT_EQ(hfta_setting_at(&whole, 0), 1);
  EXPECT_EQ(hfta_setting_at(&whole, .99), 3);
}

TEST(Distribution, NothingLeavesItsRange) {
  // exp(log(.01)) is above .01, and exp(log(1e-5)) below 1e-5, with some C
  // libraries.
  for (auto [low, high] : std::vector<std::pair<double, double>>{
           {1e-5, .01}, {.01, 1}, {1e-4, 3e-2}, {1e-300, 1e300}, {.1, .3}}) {
    hfta_search_setting setting = numbers(HFTA_LOG_UNIFORM, low, high);
    EXPECT_NEAR(hfta_setting_at(&setting, 0) / low, 1, 1e-12);
    for (double unit : {0.0, 0x1p-53, .3, .5, 1 - 0x1p-53}) {
      double value = hfta_setting_at(&setting, unit);
      EXPECT_TRUE(value >= low && value <= high) << value;
    }
    EXPECT_NEAR(hfta_setting_at(&setting, 1 - 0x1p-53) / high, 1, 1e-12);
  }
  hfta_search_setting plain = numbers(HFTA_UNIFORM, .1, .3);
  EXPECT_EQ(hfta_setting_at(&plain, 0), .1);
  EXPECT_LE(hfta_setting_at(&plain, 1 - 0x1p-53), .3);
}

TEST(Distribution, SharesAreThoseOfTheDistribution) {
  const int trials = 8192;
  for (hfta_sampler_kind kind :
       {HFTA_SAMPLER_RANDOM, HFTA_SAMPLER_SOBOL, HFTA_SAMPLER_HALTON}) {
    double tolerance = kind == HFTA_SAMPLER_RANDOM ? 130 : 6;
    int below[3] = {};
    for (int64_t i = 0; i < trials; ++i) {
      std::vector<double> values = draw(samplerOf(kind, 3),
                                        {numbers(HFTA_UNIFORM, -1, 3),
                                         numbers(HFTA_LOG_UNIFORM, 1e-4, 1),
                                         numbers(HFTA_LOG_INTEGERS, 1, 100)},
                                        i);
      below[0] += values[0] < 0;
      below[1] += values[1] < 1e-3;
      below[2] += values[2] <= 10;
    }
    EXPECT_NEAR(below[0], trials / 4, tolerance);
    EXPECT_NEAR(below[1], trials / 4, tolerance);
    // Integers have the range that is rounded to them.
    double share = std::log(10.5 / .5) / std::log(100.5 / .5);
    EXPECT_NEAR(below[2], trials * share, tolerance);
  }
}

TEST(Distribution, LogIntegersReachBothEnds) {
  std::map<double, int> counts =
      countValues(numbers(HFTA_LOG_INTEGERS, 1, 20), 4096, HFTA_SAMPLER_RANDOM);
  EXPECT_EQ(counts.size(), 20u);
  EXPECT_EQ(counts.begin()->first, 1);
  EXPECT_EQ(counts.rbegin()->first, 20);
}

/// Returns the message about a space that is refused.
static std::string refusalOf(const std::vector<hfta_search_setting> &list) {
  hfta_search_space space = {list.data(), int64_t(list.size())};
  hfta_error error = {};
  EXPECT_EQ(hfta_space_check(&space, &error), HFTA_INVALID_INPUT);
  return error.message;
}

static hfta_status checkOf(const std::vector<hfta_search_setting> &list) {
  hfta_search_space space = {list.data(), int64_t(list.size())};
  return hfta_space_check(&space, nullptr);
}

TEST(Distribution, ZippedChoicesMayRepeatAValue) {
  std::vector<double> a = {1, 1, 2}, b = {3, 4, 4};
  EXPECT_EQ(checkOf({choices(a, 0), choices(b, 0)}), HFTA_OK);
  EXPECT_EQ(checkOf({choices(a, 0), choices(a, 1)}), HFTA_INVALID_INPUT);
}

TEST(Distribution, ValuesOfNarrowRangesAreFinite) {
  for (const hfta_search_setting &setting :
       {numbers(HFTA_LOG_UNIFORM, 1e300, 1.0000000000002e300),
        numbers(HFTA_LOG_UNIFORM, 1e-307, 2e-307),
        numbers(HFTA_UNIFORM, 0, 0x1p-1000),
        numbers(HFTA_LOG_INTEGERS, 1e6, 1e6 + 1)}) {
    EXPECT_EQ(checkOf({setting}), HFTA_OK);
    std::vector<hfta_search_setting> list = {setting};
    hfta_search_space space = {list.data(), 1};
    hfta_sampler tpe = samplerOf(HFTA_SAMPLER_TPE);
    std::vector<double> values(20);
    std::vector<hfta_observation> seen;
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(
          hfta_sampler_draw(&tpe, &space, i, seen.data(), &values[i], nullptr),
          HFTA_OK);
      EXPECT_TRUE(values[i] >= setting.low && values[i] <= setting.high);
      seen.push_back({1, double(i % 5), &values[i]});
    }
  }
}

TEST(Distribution, NanIsClampedToTheLowestValue) {
  for (const hfta_search_setting &setting :
       {numbers(HFTA_UNIFORM, 2, 3), numbers(HFTA_INTEGERS, 2, 5),
        numbers(HFTA_LOG_INTEGERS, 2, 5), numbers(HFTA_UNIFORM, 2, 3, .25)})
    EXPECT_EQ(hfta_setting_clamp(&setting, kNan), 2);
}

TEST(Distribution, WrongSettingsAreRefused) {
  EXPECT_EQ(refusalOf({numbers(HFTA_UNIFORM, 1, 1)}),
            "x: expected a range of finite numbers, the smaller one first, got "
            "1 to 1");
  EXPECT_EQ(refusalOf({numbers(HFTA_UNIFORM, 0, kNan)}),
            "x: expected a range of finite numbers, the smaller one first, got "
            "0 to nan");
  EXPECT_EQ(refusalOf({numbers(HFTA_LOG_UNIFORM, 0, 1)}),
            "x: expected numbers above 0 for a logarithm, got 0");
  EXPECT_EQ(refusalOf({numbers(HFTA_LOG_UNIFORM, 1, 2, 1)}),
            "x: a step has no meaning for a logarithm");
  EXPECT_EQ(refusalOf({numbers(HFTA_INTEGERS, 0, 1.5)}),
            "x: expected whole numbers up to 2^51, got 0 to 1.5, step 0");
  EXPECT_EQ(refusalOf({numbers(HFTA_LOG_INTEGERS, .5, 2)}),
            "x: expected whole numbers up to 2^51, got 0.5 to 2, step 0");
  EXPECT_EQ(refusalOf({numbers(HFTA_UNIFORM, 0, 1, -1)}),
            "x: expected a step above 0, got -1");
  EXPECT_EQ(refusalOf({numbers(HFTA_UNIFORM, 0, 1, 2)}),
            "x: expected a step of at most 1, got 2");
  EXPECT_EQ(refusalOf({numbers(HFTA_INTEGERS, 0, 1e10)}),
            "x: expected fewer than 2^31 values");
  // The logarithms of both ends are equal.
  EXPECT_EQ(
      refusalOf({numbers(HFTA_LOG_UNIFORM, 1e300, 1.0000000000000002e300)}),
      "x: expected ends whose logarithms differ, got 1e+300 to 1e+300");
  EXPECT_EQ(refusalOf({numbers(HFTA_LOG_INTEGERS, 0x1p51 - 1, 0x1p51)}),
            "x: expected ends whose logarithms differ, got 2.2518e+15 to "
            "2.2518e+15");
  EXPECT_EQ(refusalOf({numbers(HFTA_UNIFORM, 0, 5e-324)}),
            "x: expected a range that is wider than 1e-301, got 0 to "
            "4.94066e-324");
  EXPECT_EQ(refusalOf({numbers(HFTA_LOG_INTEGERS, 0x1p53 - 1, 0x1p53)}),
            "x: expected whole numbers up to 2^51, got 9.0072e+15 to "
            "9.0072e+15, step 0");
  EXPECT_EQ(refusalOf({choices({})}), "x: expected at least one choice");
  std::vector<double> two = {1, 2}, three = {1, 2, 3}, infinite = {kInfinity};
  EXPECT_EQ(refusalOf({choices(infinite)}),
            "x: expected finite numbers, got inf");
  EXPECT_EQ(refusalOf({choices(two, 0), choices(three, 0, "y")}),
            "y: expected 2 choices like x, got 3");
  std::vector<double> twice = {3, 4, 3};
  EXPECT_EQ(refusalOf({choices(twice)}),
            "x: expected different choices, got 3 twice");
  EXPECT_EQ(refusalOf({choices(twice, 0), choices(twice, 0, "y")}),
            "x: expected different choices, got 3 twice");
  hfta_search_setting zipped = numbers(HFTA_UNIFORM, 0, 1);
  zipped.zip = 0;
  EXPECT_EQ(refusalOf({zipped}), "x: only lists of choices can be zipped");
}

//===----------------------------------------------------------------------===//
// Samplers
//===----------------------------------------------------------------------===//

TEST(Grid, TheLastAxisVariesFastest) {
  std::vector<double> a = {1, 2}, b = {3, 4, 5}, c = {6, 7};
  std::vector<hfta_search_setting> list = {choices(a), choices(b), choices(c)};
  hfta_search_space space = {list.data(), 3};
  EXPECT_EQ(hfta_grid_trials(&space), 12);
  std::vector<std::vector<double>> points;
  for (int64_t i = 0; i < 12; ++i)
    points.push_back(draw(samplerOf(HFTA_SAMPLER_GRID), list, i));
  EXPECT_EQ(points[0], (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(points[1], (std::vector<double>{1, 3, 7}));
  EXPECT_EQ(points[2], (std::vector<double>{1, 4, 6}));
  EXPECT_EQ(points[6], (std::vector<double>{2, 3, 6}));
  EXPECT_EQ(points[11], (std::vector<double>{2, 5, 7}));
  EXPECT_EQ(std::set<std::vector<double>>(points.begin(), points.end()).size(),
            12u);
}

TEST(Grid, ZippedAxesAreOne) {
  std::vector<double> a = {1, 2, 2}, b = {3, 4}, c = {6, 7, 8};
  std::vector<hfta_search_setting> list = {choices(a, 5), choices(b),
                                           choices(c, 5)};
  hfta_search_space space = {list.data(), 3};
  EXPECT_EQ(hfta_space_dimensions(&space), 2);
  EXPECT_EQ(hfta_grid_trials(&space), 6);
  hfta_sampler grid = samplerOf(HFTA_SAMPLER_GRID);
  EXPECT_EQ(draw(grid, list, 0), (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(draw(grid, list, 1), (std::vector<double>{1, 4, 6}));
  EXPECT_EQ(draw(grid, list, 2), (std::vector<double>{2, 3, 7}));
  EXPECT_EQ(draw(grid, list, 5), (std::vector<double>{2, 4, 8}));
  std::vector<double> values = draw(grid, list, 5);
  EXPECT_EQ(hfta_space_choice(&space, 0, values.data()), 2);
  // The others draw one number for both.
  std::set<std::pair<double, double>> pairs;
  for (int64_t i = 0; i < 60; ++i) {
    values = draw(samplerOf(HFTA_SAMPLER_RANDOM), list, i);
    pairs.insert({values[0], values[2]});
  }
  EXPECT_EQ(pairs,
            (std::set<std::pair<double, double>>{{1, 6}, {2, 7}, {2, 8}}));
}

TEST(Grid, TakesListsOnlyAndCountsTrials) {
  std::vector<double> a = {1, 2};
  std::vector<hfta_search_setting> list = {choices(a),
                                           numbers(HFTA_INTEGERS, 1, 2)};
  hfta_search_space space = {list.data(), 2};
  hfta_sampler grid = samplerOf(HFTA_SAMPLER_GRID);
  hfta_error error = {};
  EXPECT_EQ(hfta_sampler_check(&grid, &space, 4, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message,
               "x: a grid needs a list of values, not a distribution");
  EXPECT_EQ(hfta_grid_trials(&space), -1);
  space.count = 1;
  EXPECT_EQ(hfta_sampler_check(&grid, &space, 3, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "trials: grid has 2, got 3");
  EXPECT_EQ(hfta_sampler_check(&grid, &space, 2, &error), HFTA_OK);
  std::vector<hfta_search_setting> many(32, choices(a));
  space = {many.data(), 32};
  EXPECT_EQ(hfta_sampler_check(&grid, &space, 2, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "grid: expected at most 2^31 combinations");
}

TEST(Sampler, WrongSamplersAreRefused) {
  std::vector<hfta_search_setting> many(129, numbers(HFTA_UNIFORM, 0, 1));
  hfta_search_space space = {many.data(), 129};
  hfta_error error = {};
  hfta_sampler sampler = samplerOf(HFTA_SAMPLER_SOBOL);
  EXPECT_EQ(hfta_sampler_check(&sampler, &space, 4, &error), HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message, "sobol: expected at most 128 settings, got 129");
  sampler.kind = HFTA_SAMPLER_HALTON;
  EXPECT_EQ(hfta_sampler_check(&sampler, &space, 4, &error), HFTA_UNSUPPORTED);
  space.count = 128;
  EXPECT_EQ(hfta_sampler_check(&sampler, &space, 4, &error), HFTA_OK);
  sampler.kind = HFTA_SAMPLER_RANDOM;
  space.count = 129;
  EXPECT_EQ(hfta_sampler_check(&sampler, &space, 4, &error), HFTA_OK);
  sampler.kind = HFTA_SAMPLER_TPE;
  sampler.batch = 0;
  EXPECT_EQ(hfta_sampler_check(&sampler, &space, 4, &error),
            HFTA_INVALID_INPUT);
}

TEST(Sampler, SeedsTrialsAndSettingsAreIndependent) {
  std::vector<hfta_search_setting> list(3, numbers(HFTA_UNIFORM, 0, 1));
  std::set<double> seen;
  for (hfta_sampler_kind kind :
       {HFTA_SAMPLER_RANDOM, HFTA_SAMPLER_SOBOL, HFTA_SAMPLER_HALTON}) {
    seen.clear();
    for (uint64_t seed : {uint64_t(0), uint64_t(1), uint64_t(1) << 40})
      for (int64_t trial = 0; trial < 50; ++trial)
        for (double value : draw(samplerOf(kind, seed), list, trial))
          seen.insert(value);
    EXPECT_EQ(seen.size(), 450u);
  }
  // A correlation between neighbours would show here.
  double sums[2] = {};
  for (int64_t trial = 0; trial < 4000; ++trial) {
    std::vector<double> values =
        draw(samplerOf(HFTA_SAMPLER_RANDOM), list, trial);
    double next = draw(samplerOf(HFTA_SAMPLER_RANDOM), list, trial + 1)[0];
    sums[0] += (values[0] - .5) * (values[1] - .5);
    sums[1] += (values[0] - .5) * (next - .5);
  }
  for (double sum : sums)
    EXPECT_NEAR(sum / 4000 * 12, 0, 0.06);
}

// Trials of a search that is resumed, or continued, must get these settings.
TEST(Sampler, StaysAsItIs) {
  std::vector<double> list = {0, 1e-5, 1e-4};
  std::vector<hfta_search_setting> space = {
      numbers(HFTA_LOG_UNIFORM, 1e-4, 3e-2), choices(list),
      numbers(HFTA_UNIFORM, 0, .2)};
  using Values = std::vector<double>;
  EXPECT_EQ(draw(samplerOf(HFTA_SAMPLER_RANDOM), space, 7),
            (Values{0x1.f5020d06905e9p-7, 0, 0x1.957961480577dp-4}));
  EXPECT_EQ(draw(samplerOf(HFTA_SAMPLER_SOBOL), space, 7),
            (Values{0x1.929920dac65e6p-7, 0, 0x1.99ee01ccccccdp-9}));
  EXPECT_EQ(draw(samplerOf(HFTA_SAMPLER_HALTON), space, 7),
            (Values{0x1.0fcfbe54ebb1p-6, 0, 0x1.90ab2acd9d11ap-6}));
}

//===----------------------------------------------------------------------===//
// Perturbed settings
//===----------------------------------------------------------------------===//

static std::vector<double> perturb(const hfta_rule &rule,
                                   const std::vector<hfta_search_setting> &list,
                                   int64_t trial, std::vector<double> values) {
  hfta_search_space space = {list.data(), int64_t(list.size())};
  hfta_population_perturb(&rule, &space, 2, trial, values.data());
  return values;
}

/// Returns all values that one setting gets in many trials.
static std::set<double> perturbedOf(const hfta_search_setting &setting,
                                    double value, double resample = 0) {
  hfta_rule rule = populationRule(9);
  rule.resample = resample;
  std::set<double> seen;
  for (int64_t trial = 0; trial < 200; ++trial)
    seen.insert(perturb(rule, {setting}, trial, {value})[0]);
  return seen;
}

TEST(Perturbation, NumbersAreMultipliedAndStayInTheirRange) {
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, 0, 1), .5),
            (std::set<double>{.4, .6}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_LOG_UNIFORM, 1e-4, 1), .5),
            (std::set<double>{.4, .6}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, 0, 1), .9),
            (std::set<double>{.9 * .8, 1}));
  // At an end, only the other factor changes anything.
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, 0, 1), 1),
            (std::set<double>{.8}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_LOG_UNIFORM, .1, 1), .1),
            (std::set<double>{.1 * 1.2}));
}

TEST(Perturbation, IntegersMoveByOneAtLeast) {
  hfta_search_setting setting = numbers(HFTA_INTEGERS, 0, 40);
  EXPECT_EQ(perturbedOf(setting, 1), (std::set<double>{0, 2}));
  EXPECT_EQ(perturbedOf(setting, 2), (std::set<double>{1, 3}));
  EXPECT_EQ(perturbedOf(setting, 4), (std::set<double>{3, 5}));
  EXPECT_EQ(perturbedOf(setting, 20), (std::set<double>{16, 24}));
  EXPECT_EQ(perturbedOf(setting, 40), (std::set<double>{32}));
  EXPECT_EQ(perturbedOf(setting, 0), (std::set<double>{1}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_LOG_INTEGERS, 1, 9), 1),
            (std::set<double>{2}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_INTEGERS, 0, 30, 5), 10),
            (std::set<double>{5, 15}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, 0, 1, .25), .5),
            (std::set<double>{.25, .75}));
}

TEST(Perturbation, ChoicesMoveToANeighbour) {
  std::vector<double> list = {16, 64, 32};
  EXPECT_EQ(perturbedOf(choices(list), 64), (std::set<double>{16, 32}));
  EXPECT_EQ(perturbedOf(choices(list), 16), (std::set<double>{64}));
  EXPECT_EQ(perturbedOf(choices(list), 32), (std::set<double>{64}));
  std::vector<double> one = {5};
  EXPECT_EQ(perturbedOf(choices(one), 5), (std::set<double>{5}));
}

TEST(Perturbation, ZippedChoicesMoveTogether) {
  std::vector<double> a = {1, 1, 2}, b = {3, 4, 5};
  std::vector<hfta_search_setting> list = {choices(a, 0), choices(b, 0)};
  hfta_rule rule = populationRule(9);
  rule.resample = 0;
  std::set<std::vector<double>> seen;
  for (int64_t trial = 0; trial < 100; ++trial)
    seen.insert(perturb(rule, list, trial, {1, 4}));
  EXPECT_EQ(seen, (std::set<std::vector<double>>{{1, 3}, {2, 5}}));
}

TEST(Perturbation, SomeSettingsAreDrawnAnew) {
  std::set<double> seen = perturbedOf(numbers(HFTA_UNIFORM, 0, 1), .5, 1);
  EXPECT_GT(seen.size(), 190u);
  EXPECT_LT(*seen.begin(), .05);
  EXPECT_GT(*seen.rbegin(), .95);
  int anew = 0;
  hfta_rule rule = populationRule(9);
  for (int64_t trial = 0; trial < 4000; ++trial) {
    double value = perturb(rule, {numbers(HFTA_UNIFORM, 0, 1)}, trial, {.5})[0];
    anew += value != .4 && value != .6;
  }
  EXPECT_NEAR(anew, 1000, 110);
}

TEST(Perturbation, NoCloneEqualsItsDonor) {
  std::vector<double> two = {1, 2}, three = {3, 1, 2}, one = {7};
  hfta_rule rule = populationRule(9);
  for (double resample : {0.0, .25, 1.0}) {
    rule.resample = resample;
    for (const hfta_search_setting &setting :
         {choices(two), choices(three), numbers(HFTA_INTEGERS, 1, 2),
          numbers(HFTA_LOG_INTEGERS, 1, 2), numbers(HFTA_INTEGERS, -2, -1),
          numbers(HFTA_UNIFORM, 0, 1, .5)})
      for (int64_t trial = 0; trial < 1000; ++trial)
        for (double value : {1.0, 2.0, -1.0, -2.0, 0.0}) {
          bool isValue = setting.distribution == HFTA_CHOICE
                             ? value > 0
                             : value >= setting.low && value <= setting.high;
          if (isValue) {
            EXPECT_NE(
                perturb(rule, {setting, choices(one)}, trial, {value, 7})[0],
                value);
          }
        }
  }
}

TEST(Perturbation, ZeroMovesByAShareOfTheRange) {
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, -1, 1), 0),
            (std::set<double>{2 * (.8 - 1), 2 * (1.2 - 1)}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, 0, 1), 0),
            (std::set<double>{1.2 - 1}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, -1, 0), 0),
            (std::set<double>{.8 - 1}));
}

TEST(Perturbation, NegativeNumbersMoveLikePositiveOnes) {
  EXPECT_EQ(perturbedOf(numbers(HFTA_UNIFORM, -1, 1), -.5),
            (std::set<double>{-.4, -.6}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_INTEGERS, -40, 40), -1),
            (std::set<double>{-2, 0}));
  EXPECT_EQ(perturbedOf(numbers(HFTA_INTEGERS, -5, -1), -1),
            (std::set<double>{-2}));
  // A factor has an equal meaning on both sides of 0.
  hfta_rule rule = populationRule(9);
  rule.resample = 0;
  for (int64_t trial = 0; trial < 20; ++trial)
    for (double value : {1.0, 20.0})
      EXPECT_EQ(
          perturb(rule, {numbers(HFTA_INTEGERS, -40, 40)}, trial, {-value})[0],
          -perturb(rule, {numbers(HFTA_INTEGERS, -40, 40)}, trial, {value})[0]);
}

TEST(Perturbation, IsAFunctionOfSeedRoundAndTrial) {
  hfta_rule rule = populationRule(9);
  std::vector<hfta_search_setting> list(8, numbers(HFTA_UNIFORM, 0, 1));
  std::vector<double> values(8, .5);
  std::vector<double> expected = perturb(rule, list, 3, values);
  EXPECT_EQ(perturb(rule, list, 3, values), expected);
  EXPECT_NE(perturb(rule, list, 4, values), expected);
  rule.seed = 2;
  EXPECT_NE(perturb(rule, list, 3, values), expected);
}
