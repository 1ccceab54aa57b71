//===- scores.h - The order of trials ---------------------------*- C -*-===//
//
// A search ranks its trials by scores, such as a validation loss. All decisions
// use one total order: finite scores by direction, then all that aren't finite,
// and equal ones by the trials' numbers. A NaN in an order of numbers alone
// would let some sorts lose trials; an infinite loss means weights that can't
// be trained any more, so it isn't better than a NaN, whatever its sign.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_SCORES_H
#define HFTA_SRC_SEARCH_SCORES_H

#include "hfta/search.h"

#include <stdbool.h>

enum { HFTA_NO_TRIAL = -1 };

/// The score of a trial at some level of its training.
typedef struct hfta_score {
  int64_t trial; ///< number of the trial, from 0
  double value;
} hfta_score;

/// Returns whether `value` is strictly better than `other`: false if both are
/// equal, or if neither is finite.
bool hfta_score_is_better(hfta_direction direction, double value, double other);

/// Returns whether a trial comes before another one, in the order above.
bool hfta_score_precedes(hfta_direction direction, hfta_score one,
                         hfta_score other);

/// Sorts scores, the best first.
void hfta_scores_sort(hfta_direction direction, hfta_score *scores,
                      int64_t count);

/// The best evaluation of a trial so far.
typedef struct hfta_best {
  int64_t level; ///< level of that evaluation; 0: there is none yet
  double value;
} hfta_best;

/// Reports an evaluation at `level`, at least 1. Returns whether it is the best
/// so far: finite, and better than the earlier ones by more than `least`. If
/// `least` is infinite or NaN, only the first finite one is.
bool hfta_best_note(hfta_best *self, hfta_direction direction, double least,
                    int64_t level, double value);

/// Counts the evaluations since a trial's last improvement.
typedef struct hfta_patience {
  hfta_best best;
  int64_t waited; ///< evaluations since then
} hfta_patience;

/// Reports an evaluation. Returns whether the trial should stop: `patience`
/// evaluations, or at least one, in a row didn't improve by more than `least`.
/// The rule is that of Keras's EarlyStopping with `min_delta` = `least`.
bool hfta_patience_note(hfta_patience *self, hfta_direction direction,
                        int64_t patience, double least, int64_t level,
                        double value);

#endif // HFTA_SRC_SEARCH_SCORES_H
