//===- SearchTest.h - Helpers for tests of searches -------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_SEARCH_SEARCHTEST_H
#define HFTA_UNITTESTS_SEARCH_SEARCHTEST_H

extern "C" {
#include "search/trials.h"
}

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace hfta_test {

using Numbers = std::vector<int64_t>;
using Decisions = std::vector<hfta_decision>;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

hfta_rule halvingRule(int64_t units, int64_t eta = 3, int64_t grace = 1);
hfta_rule hyperbandRule(int64_t units, int64_t eta = 3, int64_t grace = 1);
hfta_rule ashaRule(int64_t units, int64_t workers, int64_t eta = 3);
hfta_rule percentileRule(int64_t units, double percentile, int64_t grace = 1,
                         int64_t every = 1);
hfta_rule populationRule(int64_t units, double quantile = .25,
                         hfta_direction direction = HFTA_MINIMIZE);

/// Returns scores of trials 0, 1, 2, …
std::vector<hfta_score> scoresOf(const std::vector<double> &values);

/// Returns the trials' numbers, the best first.
Numbers sortTrials(hfta_direction direction, const std::vector<double> &values);

/// Returns the trials with a verdict, in the order of their numbers.
Numbers trialsWith(const Decisions &decisions, hfta_verdict verdict,
                   int64_t level = 0);

/// A search's trials. Scores are a function of trial and level.
class Search {
public:
  using Score = std::function<double(int64_t, int64_t)>;

  Search(const hfta_rule &rule, int64_t trials, Score score);

  /// Trains all legs that can be taken, `slots` at a time. The slots end in
  /// random order, if a generator is given, else as they began.
  void run(int64_t slots = 1, std::mt19937 *random = nullptr);

  /// Takes and records one leg. Returns false if there is none.
  bool step();

  hfta_trials *get() const { return state.get(); }
  Decisions decisions() const;
  Numbers rank() const;

  /// Returns the number of trials whose state is held: they have been trained
  /// and may go on.
  int64_t countHeld() const;

  std::vector<hfta_leg> legs; ///< all that have been taken
  int64_t units = 0;          ///< the sum over all legs
  int64_t mostHeld = 0;       ///< the largest number of held states so far

private:
  int64_t trials;
  Score score;
  std::vector<bool> isTrained;
  std::unique_ptr<hfta_trials, void (*)(hfta_trials *)> state;
};

/// Returns a text with all that has been decided.
std::string textOf(Decisions decisions, bool isSorted = false);

} // namespace hfta_test

#endif // HFTA_UNITTESTS_SEARCH_SEARCHTEST_H
