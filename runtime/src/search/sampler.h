//===- sampler.h - What settings the trials of a search get -----*- C -*-===//
//
// A sampler gives each trial its settings. They are a pure function of the
// search's seed, the trial's number and, for tpe, the scores of earlier trials:
// a sampler has no state that would have to be saved.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_SAMPLER_H
#define HFTA_SRC_SEARCH_SAMPLER_H

#include "search/scores.h"
#include "search/space.h"

/// An earlier trial, as far as it is known.
typedef struct hfta_observation {
  int64_t level; ///< units after which it got its last score; 0: none yet
  double score;  ///< its last score
  const double *values; ///< its settings; borrowed
} hfta_observation;

/// Checks a sampler for a space that has been checked, and a number of trials.
/// Returns HFTA_INVALID_INPUT, or HFTA_UNSUPPORTED for too many dimensions,
/// with a setting's name or the sampler's member:
/// - grid: each setting must be a choice, and there must be as many trials as
///   combinations;
/// - sobol, halton: there must be at most HFTA_MOST_DIMENSIONS dimensions;
/// - tpe: `startup` and `batch` must be at least 1.
hfta_status hfta_sampler_check(const hfta_sampler *sampler,
                               const hfta_search_space *space, int64_t trials,
                               hfta_error *error);

/// Checks those members of a sampler that depend on neither a space nor a
/// number of trials, as hfta_sampler_check does.
hfta_status hfta_sampler_check_members(const hfta_sampler *sampler,
                                       hfta_error *error);

/// Returns the number of combinations of a space's choices: zipped settings
/// count as one. Returns -1 if a setting isn't a choice, or if there are more
/// than 2^31.
int64_t hfta_grid_trials(const hfta_search_space *space);

/// Returns how many trials, from number 0 on, must have their first score
/// before a trial's settings can be drawn: 0 except for tpe, where it is the
/// number of the first trial of the generation.
int64_t hfta_sampler_needs(const hfta_sampler *sampler, int64_t trial);

/// Writes a trial's settings to `values`, one for each of the space.
/// `observations` are those of trials 0 to `trial` - 1, which only tpe uses.
/// - grid: the last dimension varies fastest.
/// - random: each dimension has a number of its own.
/// - sobol, halton: the trial's number is the point's, so that the first 2^m
///   trials of sobol are balanced.
/// - external: users give the settings, so these are only an example.
/// Fails with HFTA_UNSUPPORTED if there isn't enough memory.
hfta_status hfta_sampler_draw(const hfta_sampler *sampler,
                              const hfta_search_space *space, int64_t trial,
                              const hfta_observation *observations,
                              double *values, hfta_error *error);

#endif // HFTA_SRC_SEARCH_SAMPLER_H
