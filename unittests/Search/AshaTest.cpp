//===- AshaTest.cpp - Asynchronous halving in virtual time ----------------===//

#include "SearchTest.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>

using namespace hfta_test;

/// Returns the legs in the order of virtual time, as "0: t0>1 t1>1; 1: t1>3".
static std::string timelineOf(const Search &search) {
  std::map<int64_t, std::string> ticks;
  for (const hfta_leg &leg : search.legs)
    ticks[leg.tick] +=
        " t" + std::to_string(leg.trial) + ">" + std::to_string(leg.to);
  std::string text;
  for (const auto &[tick, legs] : ticks)
    text += (text.empty() ? "" : "; ") + std::to_string(tick) + ":" + legs;
  return text;
}

static double goldenScore(int64_t trial, int64_t level) {
  const double at1[] = {.8, .35, .8, .4, .9, .5, .55, .7, .3};
  if (level == 1)
    return at1[trial];
  if (level == 9)
    return .2;
  return trial == 1 ? .30 : trial == 3 ? .32 : .28;
}

TEST(Asha, PromotesInVirtualTime) {
  std::mt19937 random(1);
  for (int64_t slots : {1, 2, 3, 8}) {
    Search search(ashaRule(9, 3), 9, goldenScore);
    search.run(slots, &random);
    EXPECT_EQ(timelineOf(search),
              "0: t0>1 t1>1 t2>1; 1: t1>3 t3>1 t4>1; 2: t5>1 t6>1; "
              "3: t3>3 t7>1 t8>1; 4: t8>3; 6: t8>9");
    EXPECT_EQ(search.units, 21);
    EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_COMPLETE),
              (Numbers{8}));
  }
}

/// Returns the trials that are promoted, each with the number of scores that
/// there were then, as "1@3", for one worker and one level before the last.
static std::string promotedOf(const std::vector<double> &values) {
  Search search(ashaRule(2, 1, 3), int64_t(values.size()),
                [&](int64_t trial, int64_t) { return values[trial]; });
  search.run(1);
  std::string text;
  for (const hfta_decision &decision : search.decisions())
    if (decision.verdict == HFTA_VERDICT_GOES_ON)
      text += std::to_string(decision.trial) + "@" +
              std::to_string(decision.compared) + " ";
  return text;
}

TEST(Asha, PromotesTheBestOfTheTop) {
  EXPECT_EQ(promotedOf({.8, .35, .8, .4, .9, .5, .55, .7}), "1@3 3@6 ");
  EXPECT_EQ(promotedOf({.5, .5, .5, .5, .5, .5}), "0@3 1@6 ");
  EXPECT_EQ(promotedOf({kNan, .5, kNan, .4, kInfinity, .6, .3}),
            "1@3 3@4 6@7 ");
  EXPECT_EQ(promotedOf({.9, .8, .7, .6, .5}), "2@3 3@4 4@5 ");
}

TEST(Asha, EndsWithACompleteTrial) {
  // Neither level ever has three scores.
  EXPECT_EQ(promotedOf({.5, .4}), "1@2 ");
  Search search(ashaRule(27, 3), 9,
                [](int64_t trial, int64_t) { return double(trial); });
  search.run(1);
  EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_COMPLETE),
            (Numbers{0}));
  Search alone(ashaRule(27, 4), 1, [](int64_t, int64_t) { return .5; });
  alone.run(1);
  EXPECT_EQ(alone.units, 27);
}

TEST(Asha, DropsWhatCannotBePromotedAnyMore) {
  Search search(ashaRule(9, 3), 9, goldenScore);
  search.run(1);
  // Three of nine trials may be promoted. At tick 2 trials 0 to 4 have scores,
  // and .35, .4 and the first .8 are the best.
  Decisions decisions = search.decisions();
  auto dropped = [&](int64_t trial) {
    return *std::find_if(decisions.begin(), decisions.end(),
                         [&](const hfta_decision &decision) {
                           return decision.trial == trial &&
                                  decision.verdict == HFTA_VERDICT_DROPPED;
                         });
  };
  EXPECT_EQ(dropped(4).compared, 5);
  EXPECT_EQ(dropped(4).kept, 3);
  EXPECT_EQ(dropped(4).rival, 0);
  EXPECT_EQ(dropped(2).rank, 3);
  EXPECT_EQ(dropped(2).compared, 5);
  EXPECT_EQ(dropped(0).compared, 7);
  EXPECT_EQ(dropped(3).level, 3);
  EXPECT_EQ(trialsWith(decisions, HFTA_VERDICT_DROPPED).size(), 8u);
}

// As in waves, all trials may stay that reach the last level, and one of eta
// goes on at another one.
TEST(Asha, SaysHowManyAreKeptWhenATrialEnds) {
  Search search(ashaRule(2, 6), 6, [](int64_t trial, int64_t) {
    return trial == 5 ? kNan : double(trial);
  });
  search.run(1);
  for (const hfta_decision &decision : search.decisions()) {
    if (decision.verdict == HFTA_VERDICT_COMPLETE) {
      EXPECT_EQ(decision.kept, decision.compared);
    } else {
      EXPECT_EQ(decision.kept, 2);
    }
  }
  EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_COMPLETE),
            (Numbers{0, 1}));
  EXPECT_EQ(trialsWith(search.decisions(), HFTA_VERDICT_FAILED), (Numbers{5}));
}

/// A plain model of the algorithm in the paper, for any number of workers: all
/// that is known at a tick is looked through again each time.
namespace {
struct Model {
  int64_t workers, trials, eta;
  Numbers levels;
  Search::Score score;

  struct Job {
    int64_t trial, rung, end;
  };
  std::vector<std::map<int64_t, double>> scores;
  std::vector<std::map<int64_t, bool>> promoted;
  std::map<int64_t, Job> jobs; ///< by the workers that have one
  int64_t begun = 0;
  std::string text;

  std::string run() {
    scores.resize(levels.size());
    promoted.resize(levels.size());
    for (int64_t tick = 0; tick < 400; ++tick) {
      for (int64_t i = 0; i < workers; ++i)
        if (jobs.count(i) && jobs[i].end == tick)
          finish(i);
      for (int64_t i = 0; i < workers; ++i)
        if (!jobs.count(i))
          begin(i, tick);
    }
    return text;
  }

  void finish(int64_t worker) {
    Job job = jobs[worker];
    scores[job.rung][job.trial] = score(job.trial, levels[job.rung]);
    jobs.erase(worker);
  }

  void start(int64_t worker, int64_t trial, size_t rung, int64_t tick) {
    int64_t from = rung ? levels[rung - 1] : 0;
    jobs[worker] = {trial, int64_t(rung), tick + levels[rung] - from};
    text += std::to_string(tick) + ": t" + std::to_string(trial) + ">" +
            std::to_string(levels[rung]) + "\n";
  }

  void begin(int64_t worker, int64_t tick) {
    for (size_t rung = levels.size() - 1; rung-- > 0;) {
      size_t top = scores[rung].size() / size_t(eta);
      std::vector<std::pair<double, int64_t>> sorted;
      for (auto [trial, value] : scores[rung])
        sorted.push_back({value, trial});
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < top; ++i) {
        int64_t trial = sorted[i].second;
        if (promoted[rung][trial])
          continue;
        promoted[rung][trial] = true;
        start(worker, trial, rung + 1, tick);
        return;
      }
    }
    if (begun < trials)
      start(worker, begun++, 0, tick);
  }
};
} // namespace

TEST(Asha, AgreesWithAModel) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::map<std::pair<int64_t, int64_t>, double> values;
    std::vector<double> drawn(40 * 27);
    for (double &value : drawn)
      value = double(random() % 30);
    auto score = [&](int64_t trial, int64_t level) {
      return drawn[trial * 27 + level - 1];
    };
    int64_t workers = 1 + int64_t(random() % 9),
            eta = 2 + int64_t(random() % 2);
    // With so many trials, each level has enough scores for a promotion.
    Model model = {workers, 40, eta, {}, score, {}, {}, {}, 0, ""};
    hfta_rule rule = ashaRule(eta == 2 ? 8 : 9, workers, eta);
    for (int64_t i = 0; i < hfta_rule_rungs(&rule); ++i)
      model.levels.push_back(hfta_rule_level(&rule, i));
    Search search(rule, 40, score);
    search.run(3, &random);
    std::vector<hfta_leg> legs = search.legs;
    std::string text, expected = model.run();
    std::vector<std::string> lines, expectedLines;
    for (const hfta_leg &leg : legs)
      lines.push_back(std::to_string(leg.tick) + ": t" +
                      std::to_string(leg.trial) + ">" + std::to_string(leg.to));
    for (size_t at = 0; at < expected.size();) {
      size_t end = expected.find('\n', at);
      expectedLines.push_back(expected.substr(at, end - at));
      at = end + 1;
    }
    std::sort(lines.begin(), lines.end());
    std::sort(expectedLines.begin(), expectedLines.end());
    EXPECT_EQ(lines, expectedLines);
  }
}
