//===- rule.h - Which trials a rule plans -----------------------*- C -*-===//
//
// A rule decides, at given levels of training, which trials of a search go on.
// A level is a number of units that a trial has done, and a unit is an epoch.
// This file says at which levels a rule decides, in which brackets it divides
// the trials, and how much will be computed. Everything is counted in whole
// numbers, by multiplication: floor(log(243) / log(3)) is 4 in doubles.
//
// Sources: successive halving and Hyperband, Li et al., "Hyperband", JMLR 18
// (2018); ASHA, Li et al., "A system for massively parallel hyperparameter
// tuning" (2018); Jaderberg et al., "Population based training of neural
// networks" (2017); stopping by running averages, Golovin et al., "Google
// Vizier" (2017).
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_RULE_H
#define HFTA_SRC_SEARCH_RULE_H

#include "search/scores.h"

#include "hfta/status.h"

/// Sizes of a search that follow from its rule alone, for scores that are all
/// finite.
typedef struct hfta_rule_size {
  int64_t trials;
  int64_t brackets;
  int64_t rungs;  ///< number of the rule's levels
  bool is_uneven; ///< halving, hyperband, asha: R isn't grace * eta^k, so that
                  ///< the last level is less than eta times the one before
  /// Bounds of the units of all trials together. They are equal unless scores
  /// decide how many trials go on, as for asha and percentile.
  int64_t least_units, most_units;
  /// At most so many trials' states are held at a time: of trials that have
  /// been trained, may go on, and aren't being trained. This holds for any
  /// number of trials that are trained at a time.
  int64_t held;
} hfta_rule_size;

/// A bracket: trials that are compared only with each other.
typedef struct hfta_bracket {
  int64_t first_trial; ///< number of its first trial
  int64_t trials;
  int64_t first_rung; ///< which of the rule's levels is its first
  int64_t rungs;      ///< number of its levels
} hfta_bracket;

/// Checks a rule for a search of `trials` trials. Returns HFTA_INVALID_INPUT
/// with the name of the member that is out of its range, or with "levels" if
/// the trials may have more than 20 million scores at all levels.
hfta_status hfta_rule_check(const hfta_rule *rule, int64_t trials,
                            hfta_error *error);

// All that follows is for rules that have been checked.

/// Returns the number of the rule's levels.
int64_t hfta_rule_rungs(const hfta_rule *rule);

/// Returns a level, counted from 0. Halving, hyperband and asha have grace *
/// eta^rung as long as this is below R, then R; percentile and population have
/// multiples of `every` (percentile: from `grace` on), then R.
int64_t hfta_rule_level(const hfta_rule *rule, int64_t rung);

/// Returns the number of trials that a rule asks for by itself: those of
/// Hyperband's brackets; 0 for the other rules, which take any number.
int64_t hfta_rule_trials(const hfta_rule *rule);

/// Returns the number of brackets. Hyperband has one for each k with grace *
/// eta^k at most R, which begins at that level. If R isn't such a level, it is
/// one more level of all brackets, also of the last one.
int64_t hfta_rule_brackets(const hfta_rule *rule);

/// Returns a bracket, counted from 0. Hyperband's most aggressive one, which
/// begins at the lowest level with the most trials, is the first. The other
/// rules have one bracket, of `trials` trials.
hfta_bracket hfta_rule_bracket(const hfta_rule *rule, int64_t trials,
                               int64_t bracket);

/// Returns how many of `trials` trials go on at a level before the last:
/// max(1, floor(trials / eta)) for halving, hyperband and asha, else all. Asha
/// lets one of fewer than eta trials go on only at the end of a search
/// (asha.h).
int64_t hfta_rule_kept(const hfta_rule *rule, int64_t trials);

/// Returns the sizes of a search of `trials` trials.
hfta_rule_size hfta_rule_count(const hfta_rule *rule, int64_t trials);

#endif // HFTA_SRC_SEARCH_RULE_H
