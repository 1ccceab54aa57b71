//===- TrialsTest.cpp - Searches from beginning to end --------------------===//

#include "SearchTest.h"

extern "C" {
#include "search/draw.h"
}

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <set>

using namespace hfta_test;

/// Returns a score between 0 and 1 for a trial at a level: most are finite,
/// some are equal, and they get smaller with the level.
static double roughScore(uint64_t seed, int64_t trial, int64_t level) {
  double unit = hfta_draw(seed, HFTA_DRAW_SETTING, trial, 0, 0);
  double noise = hfta_draw(seed, HFTA_DRAW_SETTING, trial, 1, level);
  if (noise < 0.02)
    return noise < 0.01 ? kNan : kInfinity;
  return std::floor((unit + noise / double(level)) * 50) / 50;
}

static Search::Score scoresOfSeed(uint64_t seed) {
  return [seed](int64_t trial, int64_t level) {
    return roughScore(seed, trial, level);
  };
}

//===----------------------------------------------------------------------===//
// Models of the rules, written as plainly as possible
//===----------------------------------------------------------------------===//

/// The end of a search: for each trial its last level, and how it ended.
using Ends = std::map<int64_t, std::pair<int64_t, hfta_verdict>>;

static Ends endsOf(const Decisions &decisions) {
  Ends ends;
  for (const hfta_decision &decision : decisions)
    if (decision.verdict != HFTA_VERDICT_GOES_ON)
      ends[decision.trial] = {decision.level, decision.verdict};
  return ends;
}

/// Halves trials `first` to `last` - 1 on the given levels: a trial goes on if
/// fewer than max(1, n / eta) others precede it.
static void modelHalving(int64_t first, int64_t last, const Numbers &levels,
                         int64_t eta, const Search::Score &score, Ends &ends) {
  std::set<int64_t> left;
  for (int64_t i = first; i < last; ++i)
    left.insert(i);
  for (int64_t level : levels) {
    std::map<int64_t, double> values;
    for (int64_t trial : left)
      values[trial] = score(trial, level);
    size_t places = std::max<size_t>(1, left.size() / size_t(eta));
    std::set<int64_t> going;
    for (auto [trial, value] : values) {
      size_t ahead = 0;
      for (auto [other, otherValue] : values)
        if (std::isfinite(otherValue))
          ahead += otherValue < value || (otherValue == value && other < trial);
      if (!std::isfinite(value))
        ends[trial] = {level, HFTA_VERDICT_FAILED};
      else if (level == levels.back())
        ends[trial] = {level, HFTA_VERDICT_COMPLETE};
      else if (ahead < places)
        going.insert(trial);
      else
        ends[trial] = {level, HFTA_VERDICT_DROPPED};
    }
    left = going;
  }
}

TEST(Trials, HalvingAgreesWithAModel) {
  const Numbers levels = {1, 3, 9};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Ends expected;
    modelHalving(0, 81, levels, 3, scoresOfSeed(seed), expected);
    Search search(halvingRule(9), 81, scoresOfSeed(seed));
    search.run(8);
    EXPECT_EQ(endsOf(search.decisions()), expected);
    EXPECT_TRUE(hfta_trials_over(search.get()));
  }
}

TEST(Trials, HyperbandAgreesWithAModel) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Ends expected;
    modelHalving(0, 27, {1, 3, 9, 27}, 3, scoresOfSeed(seed), expected);
    modelHalving(27, 39, {3, 9, 27}, 3, scoresOfSeed(seed), expected);
    modelHalving(39, 45, {9, 27}, 3, scoresOfSeed(seed), expected);
    modelHalving(45, 49, {27}, 3, scoresOfSeed(seed), expected);
    Search search(hyperbandRule(27), 49, scoresOfSeed(seed));
    search.run(5);
    EXPECT_EQ(endsOf(search.decisions()), expected);
  }
}

TEST(Trials, MedianAgreesWithAModel) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Search::Score score = scoresOfSeed(seed);
    Ends expected;
    std::map<int64_t, std::vector<double>> curves;
    for (int64_t i = 0; i < 12; ++i)
      curves[i] = {};
    for (int64_t level = 2; level <= 6; ++level) {
      std::vector<double> means;
      for (auto &[trial, curve] : curves) {
        curve.push_back(score(trial, level));
        double sum = 0;
        for (double value : curve)
          sum += value;
        double mean = sum / double(curve.size());
        means.push_back(std::isfinite(mean) ? mean : kInfinity);
      }
      std::sort(means.begin(), means.end());
      int64_t best = HFTA_NO_TRIAL;
      for (auto &[trial, curve] : curves)
        if (std::isfinite(curve.back()) &&
            (best == HFTA_NO_TRIAL || curve.back() < curves[best].back()))
          best = trial;
      for (auto at = curves.begin(); at != curves.end();) {
        double value = at->second.back();
        bool leaves = true;
        if (!std::isfinite(value))
          expected[at->first] = {level, HFTA_VERDICT_FAILED};
        else if (level == 6)
          expected[at->first] = {level, HFTA_VERDICT_COMPLETE};
        else if (at->first != best && value > means[(means.size() + 1) / 2 - 1])
          expected[at->first] = {level, HFTA_VERDICT_DROPPED};
        else
          leaves = false;
        at = leaves ? curves.erase(at) : std::next(at);
      }
    }
    Search search(percentileRule(6, 50, 2), 12, score);
    search.run(3);
    EXPECT_EQ(endsOf(search.decisions()), expected);
  }
}

TEST(Trials, MedianKeepsTheBestOfCurvesThatRise) {
  const double curve[] = {.5, .4, .6, .7};
  for (int64_t trials : {1, 3}) {
    Search search(percentileRule(4, 50), trials,
                  [&](int64_t trial, int64_t level) {
                    return curve[level - 1] + .001 * double(trial);
                  });
    search.run(2);
    EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_COMPLETE),
              (Numbers{0}));
  }
}

//===----------------------------------------------------------------------===//
// Properties of all rules
//===----------------------------------------------------------------------===//

static std::vector<std::pair<hfta_rule, int64_t>> allRules() {
  hfta_rule none = {};
  none.units = 5;
  hfta_rule maximized = halvingRule(9);
  maximized.direction = HFTA_MAXIMIZE;
  return {{none, 9},
          {halvingRule(9), 81},
          {halvingRule(10, 4, 2), 30},
          {maximized, 81},
          {hyperbandRule(9), 17},
          {hyperbandRule(27), 49},
          {hyperbandRule(10), 17},
          {ashaRule(9, 3), 20},
          {ashaRule(9, 8), 81},
          {ashaRule(27, 5, 2), 30},
          {ashaRule(27, 50), 9},
          {ashaRule(9, 30), 30},
          {ashaRule(9, 8), 9},
          {ashaRule(4, 16, 4), 20},
          {ashaRule(1, 7), 10},
          {percentileRule(6, 50), 12},
          {percentileRule(9, 30, 3, 2), 12},
          {populationRule(6), 10}};
}

TEST(Trials, DecisionsDependOnNeitherSlotsNorOrder) {
  std::mt19937 random(1);
  for (auto [rule, trials] : allRules())
    for (uint64_t seed = 0; seed < 6; ++seed) {
      Search serial(rule, trials, scoresOfSeed(seed));
      serial.run(1);
      EXPECT_TRUE(hfta_trials_over(serial.get()));
      std::string expected = textOf(serial.decisions(), true);
      for (int64_t slots : {1, 2, 3, 8, 81})
        for (int round = 0; round < 3; ++round) {
          Search search(rule, trials, scoresOfSeed(seed));
          search.run(slots, &random);
          EXPECT_EQ(textOf(search.decisions(), true), expected);
          EXPECT_EQ(search.rank(), serial.rank());
          EXPECT_EQ(search.units, serial.units);
          EXPECT_TRUE(hfta_trials_over(search.get()));
        }
    }
}

TEST(Trials, LegsFollowEachOther) {
  for (auto [rule, trials] : allRules()) {
    Search search(rule, trials, scoresOfSeed(7));
    search.run(4);
    std::vector<int64_t> done(trials);
    for (const hfta_leg &leg : search.legs) {
      EXPECT_EQ(leg.from, done[leg.trial]);
      EXPECT_GT(leg.to, leg.from);
      EXPECT_LE(leg.to, rule.units);
      done[leg.trial] = leg.to;
    }
    EXPECT_EQ(std::count(done.begin(), done.end(), 0), 0);
  }
}

// Scores without NaN need as many units as is said before, and never hold more
// states.
TEST(Trials, SizesAreThoseThatWereCounted) {
  std::mt19937 random(2);
  for (auto [rule, trials] : allRules())
    for (uint64_t seed = 0; seed < 6; ++seed)
      for (int64_t slots : {1, 3, 8, 100}) {
        Search search(rule, trials, [seed](int64_t trial, int64_t level) {
          double value = roughScore(seed, trial, level);
          return std::isfinite(value) ? value : 0.5;
        });
        search.run(slots, &random);
        hfta_rule_size size = hfta_rule_count(&rule, trials);
        EXPECT_GE(search.units, size.least_units);
        EXPECT_LE(search.units, size.most_units);
        EXPECT_LE(search.mostHeld, size.held);
      }
}

// For each of these rules, one of these orders is the worst.
TEST(Trials, SizesAreReached) {
  auto improving = [](int64_t trial, int64_t) { return -double(trial); };
  auto equal = [](int64_t, int64_t) { return .5; };
  for (auto [rule, trials] :
       std::vector<std::pair<hfta_rule, int64_t>>{{halvingRule(9), 81},
                                                  {percentileRule(6, 50), 12},
                                                  {populationRule(6), 10}}) {
    int64_t held = 0;
    for (const Search::Score &score :
         {Search::Score(improving), Search::Score(equal)}) {
      Search search(rule, trials, score);
      search.run(1);
      held = std::max(held, search.mostHeld);
    }
    EXPECT_EQ(held, hfta_rule_count(&rule, trials).held);
  }
  Search search(ashaRule(9, 1), 81, improving);
  search.run(1);
  hfta_rule rule = ashaRule(9, 1);
  EXPECT_EQ(search.units, hfta_rule_count(&rule, 81).most_units);
}

TEST(Trials, CanBeResumedByTheSameScores) {
  for (auto [rule, trials] : allRules()) {
    Search whole(rule, trials, scoresOfSeed(3));
    whole.run(1);
    Search first(rule, trials, scoresOfSeed(3));
    for (size_t i = 0; i < whole.legs.size() / 2; ++i)
      EXPECT_TRUE(first.step());
    Search second(rule, trials, scoresOfSeed(3));
    for (size_t i = 0; i < first.legs.size(); ++i)
      EXPECT_TRUE(second.step());
    EXPECT_EQ(textOf(second.decisions()), textOf(first.decisions()));
    second.run(1);
    EXPECT_EQ(textOf(second.decisions()), textOf(whole.decisions()));
  }
}

//===----------------------------------------------------------------------===//
// Halving in waves
//===----------------------------------------------------------------------===//

/// Scores at levels 1, 3 and 9, for nine trials.
static double goldenScore(int64_t trial, int64_t level) {
  const double at1[] = {.8, .35, .8, .4, .9, .5, .55, .7, .3};
  if (level == 1)
    return at1[trial];
  if (level == 9)
    return .2;
  return trial == 1 ? .30 : trial == 8 ? .28 : .32;
}

TEST(Trials, HalvingKeepsWhatItMust) {
  Search search(halvingRule(9), 9, goldenScore);
  search.run(8);
  Decisions decisions = search.decisions();
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_GOES_ON, 1), (Numbers{1, 3, 8}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_GOES_ON, 3), (Numbers{8}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_COMPLETE), (Numbers{8}));
  EXPECT_EQ(search.units, 21);
  EXPECT_EQ(search.rank(), (Numbers{8, 1, 3, 5, 6, 7, 0, 2, 4}));
  EXPECT_EQ(search.mostHeld, 3);
}

TEST(Trials, HalvingDropsTheBeatenAtOnce) {
  Search search(halvingRule(9), 9, goldenScore);
  auto stateOf = [&](int64_t trial) {
    return hfta_trials_state(search.get(), trial);
  };
  EXPECT_EQ(stateOf(0), HFTA_TRIAL_WAITS);
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(search.step());
  // Three of nine go on: .35, .4 and .8 are the best so far, and of two with .8
  // the first one comes first.
  EXPECT_EQ(stateOf(0), HFTA_TRIAL_HELD);
  EXPECT_EQ(stateOf(1), HFTA_TRIAL_HELD);
  EXPECT_EQ(stateOf(2), HFTA_TRIAL_DROPPED);
  EXPECT_EQ(stateOf(3), HFTA_TRIAL_HELD);
  EXPECT_EQ(stateOf(4), HFTA_TRIAL_WAITS);
  EXPECT_TRUE(search.decisions().empty());
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(search.step());
  EXPECT_EQ(stateOf(0), HFTA_TRIAL_DROPPED);
  EXPECT_EQ(stateOf(1), HFTA_TRIAL_WAITS);
  EXPECT_EQ(search.decisions().size(), 9u);
}

TEST(Trials, HyperbandsBracketsShareLevels) {
  Search search(hyperbandRule(9), 17, scoresOfSeed(0));
  search.run(1);
  // Nine trials to 1, then 3 of these and 5 new ones to 3, then all to 9.
  for (size_t i = 0; i < 9; ++i)
    EXPECT_EQ(search.legs[i].to, 1);
  for (size_t i = 9; i < 17; ++i)
    EXPECT_EQ(search.legs[i].to, 3);
  EXPECT_EQ(search.legs[9].from, 1);
  EXPECT_EQ(search.legs[12].from, 0);
  for (size_t i = 17; i < search.legs.size(); ++i)
    EXPECT_EQ(search.legs[i].to, 9);
}

TEST(Trials, NobodyGoesOnIfAllFail) {
  for (auto [rule, trials] : allRules()) {
    Search search(rule, trials, [](int64_t, int64_t) { return kNan; });
    search.run(2);
    EXPECT_TRUE(hfta_trials_over(search.get()));
    EXPECT_TRUE(trialsWith(search.decisions(), HFTA_VERDICT_GOES_ON).empty());
    EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_FAILED).size(),
              size_t(trials));
  }
}

TEST(Trials, AFailedTrialRanksAfterAllOthersWithAScore) {
  hfta_rule none = {};
  none.units = 2;
  Search search(none, 3, [](int64_t trial, int64_t) {
    return trial == 0 ? kNan : double(trial);
  });
  EXPECT_TRUE(search.step());
  EXPECT_TRUE(search.step());
  EXPECT_EQ(search.rank(), (Numbers{1, 0, 2}));
}

//===----------------------------------------------------------------------===//
// Trials that are withdrawn, and wrong calls
//===----------------------------------------------------------------------===//

TEST(Trials, OneThatIsWithdrawnEarlyDoesNotCount) {
  // Eight of nine are left, of which two go on.
  Search search(halvingRule(9), 9, goldenScore);
  EXPECT_EQ(hfta_trials_withdraw(search.get(), 8, nullptr), HFTA_OK);
  search.run(1);
  EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_GOES_ON, 1),
            (Numbers{1, 3}));
  EXPECT_EQ(search.decisions()[0].compared, 8);
}

TEST(Trials, OneThatIsWithdrawnLateKeepsItsPlace) {
  Search search(halvingRule(9), 9, goldenScore);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(search.step());
  EXPECT_EQ(hfta_trials_withdraw(search.get(), 1, nullptr), HFTA_OK);
  search.run(1);
  Decisions decisions = search.decisions();
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_GOES_ON, 1), (Numbers{3, 8}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_WITHDRAWN), (Numbers{1}));
}

TEST(Trials, WithdrawingTheLastOneDecides) {
  Search search(halvingRule(9), 3, goldenScore);
  EXPECT_TRUE(search.step());
  EXPECT_TRUE(search.step());
  EXPECT_TRUE(search.decisions().empty());
  EXPECT_EQ(hfta_trials_withdraw(search.get(), 2, nullptr), HFTA_OK);
  EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_GOES_ON), (Numbers{1}));
}

TEST(Trials, AnyOfThemMayBeWithdrawn) {
  std::mt19937 random(5);
  for (auto [rule, trials] : allRules())
    for (int round = 0; round < 20; ++round) {
      Search search(rule, trials, scoresOfSeed(uint64_t(round)));
      hfta_error error;
      while (search.step())
        if (random() % 4 == 0)
          hfta_trials_withdraw(search.get(), int64_t(random()) % trials,
                               &error);
      EXPECT_TRUE(hfta_trials_over(search.get()));
    }
}

TEST(Trials, WrongCallsAreRefused) {
  Search search(halvingRule(9), 9, goldenScore);
  hfta_error error = {};
  EXPECT_EQ(hfta_trials_record(search.get(), 0, 1, .5, &error),
            HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "trial 0 isn't being trained to level 1");
  hfta_leg leg;
  EXPECT_TRUE(hfta_trials_take(search.get(), &leg));
  EXPECT_EQ(hfta_trials_record(search.get(), 0, 3, .5, nullptr),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_record(search.get(), 9, 1, .5, nullptr),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_record(search.get(), -1, 1, .5, nullptr),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_record(search.get(), 0, 1, .5, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_trials_record(search.get(), 0, 1, .5, nullptr),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_withdraw(search.get(), 4, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_trials_withdraw(search.get(), 4, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "there is no trial 4, or it has ended");
  hfta_trials *none = nullptr;
  hfta_rule rule = percentileRule(1000000000, 50);
  EXPECT_EQ(hfta_trials_create(&rule, nullptr, 100000, &none, &error),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(none, nullptr);
}

//===----------------------------------------------------------------------===//
// Populations
//===----------------------------------------------------------------------===//

TEST(Trials, APopulationGoesOnWithItsDonors) {
  Search search(populationRule(3), 8, [](int64_t trial, int64_t level) {
    return level == 2 && trial == 3 ? kNan : double((trial * 5) % 8);
  });
  search.run(3);
  Decisions decisions = search.decisions();
  // Scores are 0, 5, 2, 7, 4, 1, 6, 3; two of eight are replaced.
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_REPLACED, 1), (Numbers{3, 6}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_REPLACED, 2), (Numbers{3, 6}));
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_COMPLETE, 3).size(), 8u);
  for (const hfta_leg &leg : search.legs) {
    bool isReplaced = leg.from > 0 && (leg.trial == 3 || leg.trial == 6);
    EXPECT_EQ(leg.donor != HFTA_NO_TRIAL, isReplaced);
    if (isReplaced) {
      EXPECT_TRUE(leg.donor == 0 || leg.donor == 5);
      EXPECT_EQ(leg.round, leg.from - 1);
    }
  }
}

// The state of a trial that has been withdrawn may be gone.
TEST(Trials, AWithdrawnTrialIsNoDonor) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    hfta_rule rule = populationRule(3);
    rule.seed = seed;
    Search search(rule, 8, [](int64_t trial, int64_t) { return trial; });
    EXPECT_TRUE(search.step());
    EXPECT_EQ(hfta_trials_withdraw(search.get(), 0, nullptr), HFTA_OK);
    search.run(3);
    Numbers replaced = trialsWith(search.decisions(), HFTA_VERDICT_REPLACED, 1);
    EXPECT_EQ(replaced, (Numbers{6, 7}));
    for (const hfta_leg &leg : search.legs)
      EXPECT_NE(leg.donor, 0);
  }
}

// Trials that are added later don't change what is decided about the others.
TEST(Trials, AddedTrialsAreABracketOfTheirOwn) {
  Search::Score score = scoresOfSeed(7);
  for (int64_t after : {0, 3, 9, 11, 13}) {
    Search plain(halvingRule(9), 9, score), added(halvingRule(9), 9, score);
    plain.run();
    for (int64_t i = 0; i < after; ++i)
      EXPECT_TRUE(added.step());
    ASSERT_EQ(hfta_trials_add(added.get(), 6, 0, nullptr), HFTA_OK);
    ASSERT_EQ(hfta_trials_add(added.get(), 1, 3, nullptr), HFTA_OK);
    EXPECT_EQ(hfta_trials_count(added.get()), 16);
    added.run(4);
    EXPECT_TRUE(hfta_trials_over(added.get()));
    Ends expected = endsOf(plain.decisions()), ends = endsOf(added.decisions());
    modelHalving(9, 15, {1, 3, 9}, 3, score, expected);
    modelHalving(15, 16, {9}, 3, score, expected);
    EXPECT_EQ(ends, expected) << after;
    for (const hfta_leg &leg : added.legs)
      if (leg.trial == 15)
        EXPECT_EQ(leg.from, 3);
  }
}

TEST(Trials, RefusesTrialsThatCantBeAdded) {
  Search::Score score = scoresOfSeed(7);
  Search halving(halvingRule(9), 9, score), asha(ashaRule(9, 3), 9, score),
      population(populationRule(3), 9, score);
  EXPECT_EQ(hfta_trials_add(asha.get(), 1, 0, nullptr), HFTA_UNSUPPORTED);
  EXPECT_EQ(hfta_trials_add(population.get(), 1, 0, nullptr), HFTA_UNSUPPORTED);
  EXPECT_EQ(hfta_trials_add(halving.get(), 0, 0, nullptr), HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_add(halving.get(), 1, 9, nullptr), HFTA_INVALID_INPUT);
  EXPECT_EQ(hfta_trials_add(halving.get(), 1, 8, nullptr), HFTA_OK);
}
