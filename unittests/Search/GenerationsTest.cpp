//===- GenerationsTest.cpp - Searches whose settings follow scores --------===//

#include "SearchTest.h"

extern "C" {
#include "search/draw.h"
}

#include "gtest/gtest.h"

#include <algorithm>

using namespace hfta_test;

namespace {

/// A search of one setting by tpe. A trial's score depends on its setting, and
/// gets smaller with the level; some aren't finite.
class TpeSearch {
public:
  TpeSearch(const hfta_rule &rule, int64_t trials)
      : values(trials, kNan), seen(trials) {
    setting.name = "x";
    setting.high = 1;
    setting.zip = HFTA_NO_ZIP;
    sampler.kind = HFTA_SAMPLER_TPE;
    sampler.seed = 5;
    sampler.startup = 4;
    sampler.batch = 3;
    EXPECT_EQ(hfta_trials_create(&rule, &sampler, trials, &state, nullptr),
              HFTA_OK);
  }
  TpeSearch(const TpeSearch &) = delete;
  ~TpeSearch() { hfta_trials_destroy(state); }

  /// Trains all trials, `slots` at a time, which end in random order.
  void run(int64_t slots, std::mt19937 &random) {
    std::vector<hfta_leg> running;
    for (;;) {
      hfta_leg leg;
      while (int64_t(running.size()) < slots && hfta_trials_take(state, &leg)) {
        if (leg.from == 0)
          begin(leg.trial);
        running.push_back(leg);
      }
      if (running.empty())
        break;
      std::swap(running[random() % running.size()], running.back());
      leg = running.back();
      running.pop_back();
      EXPECT_EQ(hfta_trials_record(state, leg.trial, leg.to,
                                   scoreOf(leg.trial, leg.to), nullptr),
                HFTA_OK);
    }
    EXPECT_TRUE(hfta_trials_over(state));
  }

  std::string decisions() const {
    int64_t count = 0;
    const hfta_decision *all = hfta_trials_decisions(state, &count);
    return textOf(Decisions(all, all + count), true);
  }

  std::vector<double> values;             ///< settings of each trial
  std::vector<std::vector<int64_t>> seen; ///< levels that each one has observed

private:
  void begin(int64_t trial) {
    std::vector<hfta_observation> observations(values.size());
    hfta_trials_observe(state, trial, observations.data());
    for (int64_t i = 0; i < trial; ++i) {
      observations[i].values = &values[i];
      seen[trial].push_back(observations[i].level);
      if (observations[i].level > 0) {
        double score = scoreOf(i, observations[i].level);
        EXPECT_TRUE(observations[i].score == score ||
                    (std::isnan(score) && std::isnan(observations[i].score)));
      }
    }
    hfta_search_space space = {&setting, 1};
    EXPECT_EQ(hfta_sampler_draw(&sampler, &space, trial, observations.data(),
                                &values[trial], nullptr),
              HFTA_OK);
  }

  double scoreOf(int64_t trial, int64_t level) const {
    double noise = hfta_draw(9, HFTA_DRAW_SETTING, trial, 0, level);
    return noise < .05 ? kNan
                       : std::fabs(values[trial] - .3) + noise / double(level);
  }

  hfta_search_setting setting = {};
  hfta_sampler sampler = {};
  hfta_trials *state = nullptr;
};

} // namespace

TEST(Generations, SettingsAndDecisionsDependOnNeitherSlotsNorOrder) {
  std::mt19937 random(1);
  hfta_rule none = {};
  none.units = 3;
  // While a new trial does two units, virtual time may go on without it.
  hfta_rule slow = ashaRule(5, 5, 2);
  slow.grace = 2;
  for (auto [rule, trials] : std::vector<std::pair<hfta_rule, int64_t>>{
           {none, 20},
           {halvingRule(9), 40},
           {hyperbandRule(9), 17},
           {hyperbandRule(27), 49},
           {ashaRule(9, 4), 40},
           {ashaRule(9, 3, 2), 30},
           {slow, 40},
           {percentileRule(6, 50, 2), 20},
           {populationRule(4), 12}}) {
    TpeSearch serial(rule, trials);
    serial.run(1, random);
    for (int64_t slots : {1, 2, 3, 8, 100})
      for (int round = 0; round < 5; ++round) {
        TpeSearch search(rule, trials);
        search.run(slots, random);
        EXPECT_EQ(search.values, serial.values);
        EXPECT_EQ(search.seen, serial.seen);
        EXPECT_EQ(search.decisions(), serial.decisions());
      }
  }
}

TEST(Generations, WrongSamplersAreRefused) {
  hfta_rule rule = halvingRule(9);
  hfta_sampler sampler = {};
  sampler.kind = HFTA_SAMPLER_TPE;
  sampler.startup = 4;
  hfta_trials *trials = nullptr;
  auto refusal = [&] {
    hfta_error error = {};
    EXPECT_EQ(hfta_trials_create(&rule, &sampler, 9, &trials, &error),
              HFTA_INVALID_INPUT);
    EXPECT_EQ(trials, nullptr);
    return std::string(error.message);
  };
  EXPECT_EQ(refusal(), "tpe: expected at least 1 for startup and batch, got 4 "
                       "and 0");
  sampler.batch = 3;
  rule.direction = HFTA_MAXIMIZE;
  EXPECT_EQ(refusal(),
            "direction: expected the same one for the rule and for tpe");
  sampler.direction = hfta_direction(2);
  EXPECT_EQ(refusal(), "direction: expected 0 to 1, got 2");
  sampler.kind = hfta_sampler_kind(6);
  EXPECT_EQ(refusal(), "sampler: expected 0 to 5, got 6");
}

TEST(Generations, EachSeesAllEarlierOnes) {
  std::mt19937 random(1);
  TpeSearch search(halvingRule(9), 12);
  search.run(8, random);
  EXPECT_EQ(search.seen[3], (Numbers{0, 0, 0}));
  EXPECT_EQ(search.seen[4], (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(search.seen[6], (Numbers{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(search.seen[7], (Numbers{1, 1, 1, 1, 1, 1, 1}));
}

// A bracket that begins at level 3 sees how far the trials of the first one
// have got there.
TEST(Generations, LaterBracketsSeeDeeperLevels) {
  std::mt19937 random(1);
  TpeSearch search(hyperbandRule(9), 17);
  search.run(8, random);
  Numbers seen = search.seen[13];
  EXPECT_EQ(std::count(seen.begin(), seen.begin() + 9, 3), 3);
  EXPECT_EQ(std::count(seen.begin(), seen.begin() + 9, 1), 6);
}

// Trials 0 to 2 end at tick 1, when 3 and 4 begin.
TEST(Generations, AshaSeesWhatEndsAtTheSameTick) {
  std::mt19937 random(1);
  TpeSearch search(ashaRule(9, 3), 9);
  search.run(3, random);
  EXPECT_EQ(search.seen[4], (Numbers{1, 1, 1, 0}));
}

// In virtual time, some trials of earlier generations have no score yet.
TEST(Generations, AshaDoesNotWaitForScores) {
  std::mt19937 random(1);
  TpeSearch search(ashaRule(9, 8), 40);
  search.run(1, random);
  int64_t unknown = 0, deepest = 0;
  for (int64_t i = 0; i < 37; ++i)
    unknown += search.seen[39][i] == 0;
  for (int64_t level : search.seen[39])
    deepest = std::max(deepest, level);
  EXPECT_GT(deepest, 1);
  EXPECT_LE(unknown, 8);
}
