//===- population.h - Population-based training -----------------*- C -*-===//
//
// Every few epochs the worst trials take the state of good ones, their donors,
// and go on with settings that differ a little from their donors' (Jaderberg et
// al., "Population based training of neural networks", 2017; truncation
// selection). All trials are compared at once, at the same level.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_POPULATION_H
#define HFTA_SRC_SEARCH_POPULATION_H

#include "search/decide.h"
#include "search/space.h"

/// Returns how many of `count` trials may be replaced: floor(quantile * count),
/// but at least 1, and at most half of them.
int64_t hfta_population_replaced(const hfta_rule *rule, int64_t count);

/// Decides which trials are replaced after round `round`, counted from 0: of as
/// many that are the worst, those that are strictly worse than their donor, one
/// of the equally many best. Trials whose score isn't finite are replaced too,
/// however many they are, and are never donors. If there is no donor, they
/// fail. Sorts the scores, and writes a decision for each, in that order;
/// `rival` is the donor.
///
/// Donors are among `left`, in any order: those of the scores whose trials
/// haven't been withdrawn, so that their states are still there. Where the best
/// ones have been, the next ones are donors, but none that may be replaced
/// itself, unless it is the best one that is left. Sorts `left`, too.
void hfta_decide_population(const hfta_rule *rule, int64_t round, int64_t level,
                            hfta_score *scores, int64_t count, hfta_score *left,
                            int64_t left_count, hfta_decision *decisions);

/// Turns a donor's settings into those of the trial that is replaced. Each is
/// either drawn anew or multiplied by one of the factors, and stays in its
/// range. Integers, and values on a grid, move by one at least, a continuous 0
/// by the range's width times the factor's distance from 1; choices move to a
/// neighbour. If all settings stayed as they are, since they are at the ends of
/// their ranges or the same has been drawn, nothing is drawn anew, and the
/// other factors are used, then these: with equal settings the trial would be
/// its donor's twin forever. It is one only if no setting has another value, as
/// a choice of one.
void hfta_population_perturb(const hfta_rule *rule,
                             const hfta_search_space *space, int64_t round,
                             int64_t trial, double *values);

#endif // HFTA_SRC_SEARCH_POPULATION_H
