//===- scores.c - The order of trials -------------------------------------===//

#include "search/scores.h"

#include <math.h>
#include <stdlib.h>

bool hfta_score_is_better(hfta_direction direction, double value,
                          double other) {
  if (!isfinite(value) || !isfinite(other))
    return isfinite(value) && !isfinite(other);
  return direction == HFTA_MINIMIZE ? value < other : value > other;
}

bool hfta_score_precedes(hfta_direction direction, hfta_score one,
                         hfta_score other) {
  if (hfta_score_is_better(direction, one.value, other.value))
    return true;
  return !hfta_score_is_better(direction, other.value, one.value) &&
         one.trial < other.trial;
}

static int compare(hfta_direction direction, const hfta_score *one,
                   const hfta_score *other) {
  return hfta_score_precedes(direction, *other, *one) -
         hfta_score_precedes(direction, *one, *other);
}

static int compare_minimized(const void *one, const void *other) {
  return compare(HFTA_MINIMIZE, one, other);
}

static int compare_maximized(const void *one, const void *other) {
  return compare(HFTA_MAXIMIZE, one, other);
}

void hfta_scores_sort(hfta_direction direction, hfta_score *scores,
                      int64_t count) {
  if (count > 1)
    qsort(scores, (size_t)count, sizeof(*scores),
          direction == HFTA_MINIMIZE ? compare_minimized : compare_maximized);
}

bool hfta_best_note(hfta_best *self, hfta_direction direction, double least,
                    int64_t level, double value) {
  if (!isfinite(value))
    return false;
  bool is_better = direction == HFTA_MINIMIZE ? value < self->value - least
                                              : value > self->value + least;
  if (self->level > 0 && !(is_better && isfinite(least)))
    return false;
  self->level = level;
  self->value = value;
  return true;
}

bool hfta_patience_note(hfta_patience *self, hfta_direction direction,
                        int64_t patience, double least, int64_t level,
                        double value) {
  if (hfta_best_note(&self->best, direction, least, level, value)) {
    self->waited = 0;
    return false;
  }
  ++self->waited;
  return self->waited >= patience;
}
