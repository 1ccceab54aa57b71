//===- SearchTest.cpp - Helpers for tests of searches ---------------------===//

#include "SearchTest.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <sstream>
#include <tuple>

using namespace hfta_test;

hfta_rule hfta_test::halvingRule(int64_t units, int64_t eta, int64_t grace) {
  hfta_rule rule = {};
  rule.kind = HFTA_RULE_HALVING;
  rule.units = units;
  rule.eta = eta;
  rule.grace = grace;
  return rule;
}

hfta_rule hfta_test::hyperbandRule(int64_t units, int64_t eta, int64_t grace) {
  hfta_rule rule = halvingRule(units, eta, grace);
  rule.kind = HFTA_RULE_HYPERBAND;
  return rule;
}

hfta_rule hfta_test::ashaRule(int64_t units, int64_t workers, int64_t eta) {
  hfta_rule rule = halvingRule(units, eta);
  rule.kind = HFTA_RULE_ASHA;
  rule.workers = workers;
  return rule;
}

hfta_rule hfta_test::percentileRule(int64_t units, double percentile,
                                    int64_t grace, int64_t every) {
  hfta_rule rule = {};
  rule.kind = HFTA_RULE_PERCENTILE;
  rule.units = units;
  rule.percentile = percentile;
  rule.grace = grace;
  rule.every = every;
  return rule;
}

hfta_rule hfta_test::populationRule(int64_t units, double quantile,
                                    hfta_direction direction) {
  hfta_rule rule = {};
  rule.kind = HFTA_RULE_POPULATION;
  rule.direction = direction;
  rule.units = units;
  rule.every = 1;
  rule.quantile = quantile;
  rule.resample = .25;
  rule.factors[0] = .8;
  rule.factors[1] = 1.2;
  rule.seed = 1;
  return rule;
}

std::vector<hfta_score> hfta_test::scoresOf(const std::vector<double> &values) {
  std::vector<hfta_score> scores;
  for (double value : values)
    scores.push_back({int64_t(scores.size()), value});
  return scores;
}

Numbers hfta_test::sortTrials(hfta_direction direction,
                              const std::vector<double> &values) {
  std::vector<hfta_score> scores = scoresOf(values);
  hfta_scores_sort(direction, scores.data(), int64_t(scores.size()));
  Numbers numbers;
  for (const hfta_score &score : scores)
    numbers.push_back(score.trial);
  return numbers;
}

Numbers hfta_test::trialsWith(const Decisions &decisions, hfta_verdict verdict,
                              int64_t level) {
  Numbers numbers;
  for (const hfta_decision &decision : decisions)
    if (decision.verdict == verdict && (level == 0 || decision.level == level))
      numbers.push_back(decision.trial);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Search::Search(const hfta_rule &rule, int64_t trials, Score score)
    : trials(trials), score(std::move(score)), isTrained(trials),
      state(nullptr, hfta_trials_destroy) {
  hfta_trials *created = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_trials_create(&rule, nullptr, trials, &created, &error),
            HFTA_OK)
      << error.message;
  state.reset(created);
}

void Search::run(int64_t slots, std::mt19937 *random) {
  std::vector<hfta_leg> running;
  for (;;) {
    hfta_leg leg;
    while (int64_t(running.size()) < slots && hfta_trials_take(get(), &leg)) {
      running.push_back(leg);
      legs.push_back(leg);
      units += leg.to - leg.from;
    }
    if (running.empty())
      return;
    size_t next = random ? (*random)() % running.size() : 0;
    leg = running[next];
    running.erase(running.begin() + long(next));
    isTrained[leg.trial] = true;
    EXPECT_EQ(hfta_trials_record(get(), leg.trial, leg.to,
                                 score(leg.trial, leg.to), nullptr),
              HFTA_OK);
    mostHeld = std::max(mostHeld, countHeld());
  }
}

bool Search::step() {
  hfta_leg leg;
  if (!hfta_trials_take(get(), &leg))
    return false;
  legs.push_back(leg);
  units += leg.to - leg.from;
  isTrained[leg.trial] = true;
  return hfta_trials_record(get(), leg.trial, leg.to, score(leg.trial, leg.to),
                            nullptr) == HFTA_OK;
}

Decisions Search::decisions() const {
  int64_t count = 0;
  const hfta_decision *all = hfta_trials_decisions(get(), &count);
  return Decisions(all, all + count);
}

Numbers Search::rank() const {
  Numbers order(trials);
  hfta_trials_rank(get(), order.data());
  return order;
}

int64_t Search::countHeld() const {
  int64_t held = 0;
  for (int64_t i = 0; i < trials; ++i) {
    hfta_trial_state now = hfta_trials_state(get(), i);
    held += now == HFTA_TRIAL_HELD || (now == HFTA_TRIAL_WAITS && isTrained[i]);
  }
  return held;
}

std::string hfta_test::textOf(Decisions decisions, bool isSorted) {
  if (isSorted)
    std::sort(decisions.begin(), decisions.end(),
              [](const hfta_decision &one, const hfta_decision &other) {
                return std::tie(one.level, one.trial) <
                       std::tie(other.level, other.trial);
              });
  std::ostringstream text;
  text.precision(17);
  for (const hfta_decision &decision : decisions)
    text << "trial " << decision.trial << " at " << decision.level << " "
         << hfta_verdict_name(decision.verdict) << " score " << decision.score
         << " rank " << decision.rank << " of " << decision.compared << " kept "
         << decision.kept << " rival " << decision.rival << " "
         << decision.bound << "\n";
  return text.str();
}
