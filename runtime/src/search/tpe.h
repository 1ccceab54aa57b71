//===- tpe.h - Tree-structured Parzen estimator -----------------*- C -*-===//
//
// Draws settings where good trials are dense, and others aren't: of 24
// candidates from the density of good trials, the one with the largest quotient
// of this density and that of all others. The estimator is Optuna 5.0's
// (parzen.h); which trials are good differs:
// - trials that have got further come before others, by level, then by score;
// - a trial whose score isn't finite is never good, but isn't forgotten;
// - trials of the same generation count as bad, whether they have scores or not
//   ("constant liar"), so that the number of trials that are trained at a time
//   doesn't matter.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_TPE_H
#define HFTA_SRC_SEARCH_TPE_H

#include "search/sampler.h"

/// Returns how many of `count` trials are good: a tenth, rounded up, but at
/// most 25.
int64_t hfta_tpe_good(int64_t count);

/// Sets is_good[i] for each of `count` trials, of which only the first `known`
/// may be good.
void hfta_tpe_split(hfta_direction direction,
                    const hfta_observation *observations, int64_t count,
                    int64_t known, bool *is_good);

/// Writes a trial's settings to `values`. `observations` are those of trials 0
/// to `trial` - 1, of which the first `known` belong to earlier generations.
/// Fails with HFTA_UNSUPPORTED if there isn't enough memory.
hfta_status hfta_tpe_draw(const hfta_sampler *sampler,
                          const hfta_search_space *space, int64_t trial,
                          int64_t known, const hfta_observation *observations,
                          double *values, hfta_error *error);

#endif // HFTA_SRC_SEARCH_TPE_H
