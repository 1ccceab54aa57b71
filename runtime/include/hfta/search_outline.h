//===- search_outline.h - What a search will do -----------------*- C -*-===//
//
// Facts of a search that are known before it begins. The compiler checks a job
// and prints its sizes by these functions, and a program its table.
//
// Ownership: functions keep no pointers to their arguments.
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SEARCH_OUTLINE_H
#define HFTA_SEARCH_OUTLINE_H

#include "hfta/search.h"
#include "hfta/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sizes of a search, for scores that are all finite.
typedef struct hfta_search_size {
  int64_t brackets;
  int64_t rungs;  ///< number of the rule's levels
  bool is_uneven; ///< the last level is less than eta times the one before
  /// Bounds of the units of all trials together, and of those of a search in
  /// which all trials go all the way.
  int64_t least_units, most_units, full_units;
  int64_t held; ///< at most so many states of trials are held at a time
} hfta_search_size;

/// Checks the settings that a search varies, apart from its sampler and rule.
/// Returns HFTA_INVALID_INPUT with the name of a setting.
hfta_status hfta_search_check_settings(const hfta_search *search,
                                       hfta_error *error);

/// Returns how many trials the sampler or the rule has by itself: grid has all
/// combinations, hyperband the trials of its brackets; 0: neither says it, or
/// its numbers aren't valid; -1: more than 2^31. The settings must be valid.
int64_t hfta_search_own_trials(const hfta_search *search);

/// Checks all of a search. Its rule must have its units. Returns
/// HFTA_INVALID_INPUT or HFTA_UNSUPPORTED with the name of a setting or member.
hfta_status hfta_search_check(const hfta_search *search, hfta_error *error);

// All that follows is for searches that have been checked.

void hfta_search_measure(const hfta_search *search, hfta_search_size *out);

/// Returns the number of units at which the rule decides for the time `rung`,
/// counted from 0.
int64_t hfta_search_level(const hfta_search *search, int64_t rung);

/// Writes settings that a trial may have to `values`, one for each setting: its
/// own, unless they depend on scores.
hfta_status hfta_search_example(const hfta_search *search, int64_t trial,
                                double *values, hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_SEARCH_OUTLINE_H
