//===- TpeTest.cpp - Tree-structured Parzen estimators --------------------===//
//
// Numbers of Optuna are those of its class _ParzenEstimator, version 5.0.0,
// with its sampler's defaults.
//===----------------------------------------------------------------------===//

#include "SearchTest.h"

extern "C" {
#include "search/parzen.h"
#include "search/tpe.h"
}

#include "gtest/gtest.h"

#include <algorithm>

using namespace hfta_test;

using Values = std::vector<double>;

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

static hfta_search_setting choicesOf(const Values &values) {
  hfta_search_setting setting = numbers(HFTA_CHOICE, 0, 0);
  setting.choices = values.data();
  setting.choice_count = int64_t(values.size());
  return setting;
}

namespace {

/// An estimator of some settings.
class Parzen {
public:
  Parzen(std::vector<hfta_search_setting> settings,
         const std::vector<Values> &observations)
      : settings(std::move(settings)) {
    space = {this->settings.data(), int64_t(this->settings.size())};
    std::vector<const double *> rows;
    for (const Values &values : observations)
      rows.push_back(values.data());
    EXPECT_TRUE(hfta_parzen_create(&space, rows.data(), int64_t(rows.size()),
                                   &estimator));
  }
  ~Parzen() { hfta_parzen_destroy(&estimator); }

  double logDensity(const Values &values) const {
    return hfta_parzen_log_density(&estimator, values.data());
  }
  Values mu(int64_t setting = 0) const { return row(estimator.mu, setting); }
  Values sigma(int64_t setting = 0) const {
    return row(estimator.sigma, setting);
  }
  Values weights() const { return row(estimator.weights, 0); }
  Values draw(double kernel, const Values &units) const {
    Values values(settings.size());
    hfta_parzen_draw(&estimator, kernel, units.data(), values.data());
    return values;
  }

private:
  Values row(const double *numbers, int64_t setting) const {
    const double *begin = numbers + setting * estimator.kernels;
    return Values(begin, begin + estimator.kernels);
  }

  std::vector<hfta_search_setting> settings;
  hfta_search_space space;
  hfta_parzen estimator;
};

} // namespace

static void expectNear(const Values &values, const Values &expected,
                       double tolerance = 1e-11) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

TEST(Parzen, OneDimensionIsOptunas) {
  std::vector<hfta_search_setting> unit = {numbers(HFTA_UNIFORM, 0, 1)};
  Parzen good(unit, {{.3}, {.35}}), bad(unit, {{.1}, {.5}, {.6}, {.9}});
  expectNear(good.mu(), {.3, .35, .5});
  expectNear(good.sigma(), {.25, .25, 1});
  expectNear(good.weights(), {1.0 / 3, 1.0 / 3, 1.0 / 3});
  expectNear(bad.sigma(), {.4, .4, .3, .3, 1});
  expectNear(bad.weights(), {.2, .2, .2, .2, .2});
  expectNear(Parzen(unit, {{.3}}).sigma(), {.7, 1});
  const double expected[][2] = {{.05, .285313879}, {.15, .421221086},
                                {.25, .46543223},  {.35, .403683559},
                                {.45, .238297916}, {.55, -.0130682371}};
  for (const double *row : expected)
    EXPECT_NEAR(good.logDensity({row[0]}) - bad.logDensity({row[0]}), row[1],
                1e-9);
}

/// Six settings, one of each kind.
static std::vector<hfta_search_setting> mixedSettings() {
  static const Values three = {0, 1, 2};
  return {
      numbers(HFTA_UNIFORM, 0, 1),       numbers(HFTA_LOG_UNIFORM, 1e-4, .1),
      numbers(HFTA_INTEGERS, 1, 9, 2),   numbers(HFTA_LOG_INTEGERS, 1, 100),
      numbers(HFTA_UNIFORM, -1, 1, .25), choicesOf(three)};
}

static Values mixedValues(int64_t i) {
  return {
      double(i * 37 % 101) / 101,   1e-4 * std::pow(1.25, double(i * 7 % 31)),
      double(1 + 2 * (i * 3 % 5)),  double(1 + i * 29 % 100),
      -1 + .25 * double(i * 5 % 9), double(i * i % 3)};
}

static std::vector<Values> mixedObservations(int64_t count) {
  std::vector<Values> observations;
  for (int64_t i = 0; i < count; ++i)
    observations.push_back(mixedValues(i));
  return observations;
}

TEST(Parzen, KernelsOfAllDistributionsAreOptunas) {
  Parzen five(mixedSettings(), mixedObservations(5));
  expectNear(five.mu(0), {0, .366336633663, .732673267327, .0990099009901,
                          .465346534653, .5});
  expectNear(five.sigma(0), {.142857142857, .267326732673, .267326732673,
                             .267326732673, .267326732673, 1});
  expectNear(five.mu(1), {-9.21034037198, -7.64833551278, -6.08633065358,
                          -4.52432579438, -2.96232093518, -5.75646273249});
  expectNear(five.sigma(1), {1.5620048592, 1.5620048592, 1.5620048592,
                             1.5620048592, 1.5620048592, 6.90775527898});
  expectNear(five.mu(2), {1, 7, 3, 9, 5, 5});
  expectNear(five.sigma(2), {2, 2, 2, 2, 2, 10});
  expectNear(five.mu(3), {0, 3.40119738166, 4.07753744391, 4.47733681448,
                          2.83321334406, 1.95850527347});
  expectNear(five.sigma(3), {2.83321334406, .757614986866, .757614986866,
                             .757614986866, 2.83321334406, 5.30330490806});
  expectNear(five.mu(4), {-1, .25, -.75, .5, -.5, 0});
  expectNear(five.sigma(4),
             {.321428571429, .75, .321428571429, .321428571429, .75, 2.25});
}

TEST(Parzen, WeightsOfManyObservationsAreOptunas) {
  Values weights = Parzen(mixedSettings(), mixedObservations(30)).weights();
  expectNear({weights.begin(), weights.begin() + 6},
             {.00116618075802, .00962099125364, .0180758017493, .0265306122449,
              .0349854227405, .0349854227405});
  EXPECT_NEAR(weights[30], .0349854227405, 1e-11);
  weights = Parzen(mixedSettings(), mixedObservations(26)).weights();
  EXPECT_NEAR(weights[0] / weights[1], 1.0 / 26, 1e-12);
}

// Optuna's sort of observations isn't stable. For 30 observations, some of
// which are equal, the numbers are those with a stable sort.
TEST(Parzen, DensitiesOfAllDistributionsAreOptunas) {
  const std::pair<int64_t, Values> expected[] = {
      {0,
       {-13.1389640845, -11.4387336875, -13.0432952543, -12.1905899601,
        -12.4832203347}},
      {1,
       {-13.0723125065, -11.627091582, -13.3911092604, -12.4856072841,
        -12.2528191097}},
      {2,
       {-13.9434683172, -11.0439593038, -13.8870966524, -12.4427885778,
        -13.1182286363}},
      {5,
       {-8.86720401, -10.5629608727, -12.0186330044, -9.44098288227,
        -13.6482880925}},
      {30,
       {-8.82365638455, -14.7009742609, -13.7317523554, -11.7715552264,
        -15.7258314579}}};
  const int64_t points[] = {3, 11, 17, 29, 36};
  const double firsts[] = {0, .2, .5, .77, 1};
  for (const auto &[count, densities] : expected) {
    Parzen parzen(mixedSettings(), mixedObservations(count));
    for (int i = 0; i < 5; ++i) {
      Values values = mixedValues(points[i]);
      values[0] = firsts[i];
      EXPECT_NEAR(parzen.logDensity(values), densities[i], 1e-9);
    }
  }
}

// Grid values' probabilities have the sum 1, and so has a density's integral.
// An estimator remembers 24 values of each setting.
TEST(Parzen, DensitiesDependOnNoOtherValues) {
  std::vector<hfta_search_setting> settings = {
      numbers(HFTA_INTEGERS, 1, 100), numbers(HFTA_LOG_INTEGERS, 1, 100),
      numbers(HFTA_UNIFORM, 0, 1, .25)};
  std::vector<Values> observations = {{7, 3, .5}, {80, 60, 0}, {30, 2, .75}};
  Parzen all(settings, observations);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 60; ++i) {
      Values values = {double(i + 1), double(i * 7 % 50 + 1), i % 5 * .25};
      EXPECT_EQ(all.logDensity(values),
                Parzen(settings, observations).logDensity(values));
    }
}

TEST(Parzen, DensitiesAreNormalized) {
  Parzen integers({numbers(HFTA_LOG_INTEGERS, 1, 50)}, {{3}, {4}, {40}});
  double sum = 0;
  for (int i = 1; i <= 50; ++i)
    sum += std::exp(integers.logDensity({double(i)}));
  EXPECT_NEAR(sum, 1, 1e-12);
  Parzen many({numbers(HFTA_INTEGERS, 0, 100000)}, {{30}, {4000}, {99000}});
  sum = 0;
  for (int i = 0; i <= 100000; ++i)
    sum += std::exp(many.logDensity({double(i)}));
  EXPECT_NEAR(sum, 1, 1e-9);
  Parzen plain({numbers(HFTA_UNIFORM, -1, 3)}, {{-1}, {0}, {2.5}});
  sum = 0;
  for (int i = 0; i < 4000; ++i)
    sum += std::exp(plain.logDensity({-1 + (i + .5) / 1000})) / 1000;
  EXPECT_NEAR(sum, 1, 1e-6);
}

// Draws have the density: shares of tenths of the range are as they should be.
TEST(Parzen, DrawsFollowTheDensity) {
  Parzen parzen({numbers(HFTA_LOG_UNIFORM, 1, std::exp(1))},
                {{std::exp(.1)}, {std::exp(.15)}, {std::exp(.9)}});
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<int> tenths(10);
  const int draws = 40000;
  for (int i = 0; i < draws; ++i) {
    double value = parzen.draw(unit(random), {unit(random)})[0];
    ASSERT_TRUE(value >= 1 && value <= std::exp(1));
    ++tenths[std::min(int(std::log(value) * 10), 9)];
  }
  for (int tenth = 0; tenth < 10; ++tenth) {
    double share = 0;
    for (int i = 0; i < 100; ++i)
      share += std::exp(parzen.logDensity(
                   {std::exp(tenth * .1 + (i + .5) * .001)})) *
               .001;
    EXPECT_NEAR(tenths[tenth], share * draws, 400) << tenth;
  }
}

TEST(Parzen, DrawsOfChoicesAndGridsFollowTheProbabilities) {
  Values three = {5, 6, 7};
  Parzen parzen({choicesOf(three), numbers(HFTA_INTEGERS, 1, 4)},
                {{6, 1}, {6, 4}});
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::vector<int>> counts(3, std::vector<int>(4));
  const int draws = 40000;
  for (int i = 0; i < draws; ++i) {
    Values values = parzen.draw(unit(random), {unit(random), unit(random)});
    ++counts[int(values[0]) - 5][int(values[1]) - 1];
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_NEAR(counts[i][j],
                  draws * std::exp(parzen.logDensity({i + 5.0, j + 1.0})), 350);
}

TEST(Parzen, DrawsOfExtremeNumbersStayInTheRange) {
  Parzen parzen({numbers(HFTA_UNIFORM, 0, 1)},
                std::vector<Values>(120, Values{0}));
  for (double unit : {0.0, 0x1p-53, .5, 1 - 0x1p-53})
    for (double kernel : {0.0, .999999}) {
      double value = parzen.draw(kernel, {unit})[0];
      EXPECT_TRUE(value >= 0 && value <= 1);
    }
  EXPECT_NEAR(parzen.draw(0, {.5})[0], .01 * .6744897501960817, 1e-12);
}

//===----------------------------------------------------------------------===//
// Which trials are good
//===----------------------------------------------------------------------===//

/// Returns the good ones of trials that are given as level and score.
static Numbers goodOf(const std::vector<std::pair<int64_t, double>> &trials,
                      int64_t known = -1) {
  std::vector<hfta_observation> observations;
  for (auto [level, score] : trials)
    observations.push_back({level, score, nullptr});
  std::vector<char> isGood(trials.size());
  hfta_tpe_split(HFTA_MINIMIZE, observations.data(), int64_t(trials.size()),
                 known < 0 ? int64_t(trials.size()) : known,
                 reinterpret_cast<bool *>(isGood.data()));
  Numbers good;
  for (size_t i = 0; i < trials.size(); ++i)
    if (isGood[i])
      good.push_back(int64_t(i));
  return good;
}

TEST(Tpe, ATenthIsGood) {
  const int64_t expected[][2] = {{1, 1},  {10, 1},   {11, 2},   {20, 2},
                                 {21, 3}, {100, 10}, {250, 25}, {1000, 25}};
  for (const int64_t *row : expected)
    EXPECT_EQ(hfta_tpe_good(row[0]), row[1]);
  EXPECT_EQ(hfta_tpe_good(0), 0);
}

TEST(Tpe, DeeperRungsComeFirst) {
  // Trials in this order: 1 0 2 3 4, then those that aren't finite.
  std::vector<std::pair<int64_t, double>> trials = {
      {9, .5}, {9, .3}, {3, .1}, {3, .2}, {1, .01}, {3, kNan}, {9, kInfinity}};
  const Numbers order = {1, 0, 2, 3, 4};
  for (size_t count = 1; count <= 5; ++count) {
    // With ten more trials, one more is good.
    std::vector<std::pair<int64_t, double>> more = trials;
    more.resize(count * 10, {1, kNan});
    Numbers good(order.begin(), order.begin() + long(count));
    std::sort(good.begin(), good.end());
    EXPECT_EQ(goodOf(more), good);
  }
  // The others are never good.
  trials.resize(100, {1, kNan});
  EXPECT_EQ(goodOf(trials), (Numbers{0, 1, 2, 3, 4}));
}

TEST(Tpe, RunningTrialsAreNotGood) {
  EXPECT_EQ(goodOf({{0, 0}, {1, .5}, {1, .4}}), (Numbers{2}));
  EXPECT_EQ(goodOf({{0, 0}, {0, 0}}), (Numbers{}));
  // Nor are those of the same generation.
  EXPECT_EQ(goodOf({{1, .6}, {1, .5}, {1, .4}}, 2), (Numbers{1}));
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

/// Returns the settings of a search's trials, by their numbers. All trials of a
/// generation get their scores before the next one is drawn, or, with
/// `isEager`, each trial before the next one.
static std::vector<Values>
runTpe(const std::vector<hfta_search_setting> &settings, int64_t trials,
       const std::function<double(const Values &)> &score, uint64_t seed = 1,
       bool isEager = false, int64_t batch = 8) {
  hfta_search_space space = {settings.data(), int64_t(settings.size())};
  hfta_sampler sampler = {};
  sampler.kind = HFTA_SAMPLER_TPE;
  sampler.seed = seed;
  sampler.startup = 10;
  sampler.batch = batch;
  std::vector<Values> values(trials, Values(settings.size()));
  std::vector<hfta_observation> observations(trials);
  for (int64_t i = 0; i < trials; ++i) {
    int64_t needs = hfta_sampler_needs(&sampler, i);
    for (int64_t j = 0; j < (isEager ? i : needs); ++j)
      observations[j] = {1, score(values[j]), values[j].data()};
    EXPECT_EQ(hfta_sampler_draw(&sampler, &space, i, observations.data(),
                                values[i].data(), nullptr),
              HFTA_OK);
    observations[i] = {0, 0, values[i].data()};
  }
  return values;
}

TEST(Tpe, GenerationsNeedTheEarlierOnes) {
  hfta_sampler sampler = {};
  sampler.kind = HFTA_SAMPLER_TPE;
  sampler.startup = 10;
  sampler.batch = 8;
  const int64_t expected[][2] = {{0, 0},   {9, 0},   {10, 10}, {17, 10},
                                 {18, 18}, {25, 18}, {26, 26}};
  for (const int64_t *row : expected)
    EXPECT_EQ(hfta_sampler_needs(&sampler, row[0]), row[1]);
}

TEST(Tpe, SettingsDoNotDependOnWhenScoresOfAGenerationArrive) {
  auto score = [](const Values &values) {
    return std::fabs(values[0] - .3) + values[5];
  };
  EXPECT_EQ(runTpe(mixedSettings(), 60, score),
            runTpe(mixedSettings(), 60, score, 1, true));
  EXPECT_NE(runTpe(mixedSettings(), 60, score),
            runTpe(mixedSettings(), 60, score, 2));
}

TEST(Tpe, SettingsStayInTheirRanges) {
  std::vector<hfta_search_setting> settings = mixedSettings();
  for (const Values &values : runTpe(settings, 80, [](const Values &values) {
         return values[0] < .5 ? kNan : -values[1] * values[3];
       }))
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(hfta_setting_clamp(&settings[i], values[i]), values[i]);
      if (i == 5) {
        EXPECT_TRUE(values[i] == 0 || values[i] == 1 || values[i] == 2);
      }
    }
}

// After 10 random trials, most of 50 more are near the best settings, of which
// there would be 2 among random ones.
TEST(Tpe, FindsTheBestSettings) {
  static const Values three = {0, 1, 2};
  std::vector<hfta_search_setting> settings = {
      numbers(HFTA_UNIFORM, 0, 1), numbers(HFTA_LOG_UNIFORM, 1e-4, 1),
      choicesOf(three)};
  int near = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<Values> all = runTpe(
        settings, 60,
        [](const Values &values) {
          return std::fabs(values[0] - .7) +
                 std::fabs(std::log10(values[1]) + 2.5) / 4 +
                 .3 * (values[2] != 1);
        },
        seed);
    for (size_t i = 10; i < all.size(); ++i)
      near += std::fabs(all[i][0] - .7) < .2 &&
              std::fabs(std::log10(all[i][1]) + 2.5) < .8 && all[i][2] == 1;
  }
  EXPECT_GT(near, 10 * 20);
}

// The best rate is just below those that diverge. If diverged trials were
// forgotten, most trials would diverge, as 35 of 40 with Optuna.
TEST(Tpe, LearnsFromTrialsThatDiverge) {
  int diverged = 0;
  auto score = [](const Values &values) {
    return values[0] <= .5 ? 1 - values[0] : kNan;
  };
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (const Values &values :
         runTpe({numbers(HFTA_UNIFORM, 0, 1)}, 40, score, seed, false, 1))
      diverged += values[0] > .5;
  EXPECT_LT(diverged, 10 * 22);
}

TEST(Tpe, GoesOnIfAllTrialsFailed) {
  std::vector<Values> all = runTpe({numbers(HFTA_UNIFORM, 0, 1)}, 30,
                                   [](const Values &) { return kNan; });
  double least = 1, most = 0;
  for (const Values &values : all) {
    least = std::min(least, values[0]);
    most = std::max(most, values[0]);
  }
  EXPECT_LT(least, .2);
  EXPECT_GT(most, .8);
}

// Trials of a search that is resumed must get these settings.
TEST(Tpe, StaysAsItIs) {
  std::vector<Values> all = runTpe(
      mixedSettings(), 30, [](const Values &values) { return values[0]; });
  EXPECT_EQ(all[29],
            (Values{0x1.eb2aee2df30f4p-3, 0x1.584cdc2a5305cp-5, 1, 20, .5, 1}));
}
