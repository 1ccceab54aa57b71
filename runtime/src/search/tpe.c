//===- tpe.c - Tree-structured Parzen estimator ---------------------------===//

#include "search/tpe.h"

#include "search/draw.h"
#include "search/parzen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t hfta_tpe_good(int64_t count) {
  enum { MOST_GOOD = 25 };
  int64_t good = (count + 9) / 10;
  return good < MOST_GOOD ? good : MOST_GOOD;
}

/// Returns whether a trial with a score is better than another one with one.
static bool is_better(hfta_direction direction,
                      const hfta_observation *observations, int64_t one,
                      int64_t other) {
  const hfta_observation *a = &observations[one], *b = &observations[other];
  if (a->level != b->level)
    return a->level > b->level;
  return hfta_score_precedes(direction, (hfta_score){one, a->score},
                             (hfta_score){other, b->score});
}

void hfta_tpe_split(hfta_direction direction,
                    const hfta_observation *observations, int64_t count,
                    int64_t known, bool *is_good) {
  int64_t finished = 0;
  for (int64_t i = 0; i < count; ++i) {
    is_good[i] = false;
    finished += i < known && observations[i].level > 0;
  }
  for (int64_t left = hfta_tpe_good(finished); left > 0; --left) {
    int64_t best = HFTA_NO_TRIAL;
    for (int64_t i = 0; i < known && i < count; ++i) {
      if (is_good[i] || observations[i].level == 0 ||
          !isfinite(observations[i].score))
        continue;
      if (best == HFTA_NO_TRIAL || is_better(direction, observations, i, best))
        best = i;
    }
    if (best == HFTA_NO_TRIAL)
      return;
    is_good[best] = true;
  }
}

/// Creates the estimator of those trials that are good, or of those that
/// aren't. Uses `rows`, which has room for all of them.
static bool estimate(const hfta_search_space *space,
                     const hfta_observation *observations, int64_t count,
                     const bool *is_good, bool good, const double **rows,
                     hfta_parzen *out) {
  int64_t chosen = 0;
  for (int64_t i = 0; i < count; ++i)
    if (is_good[i] == good)
      rows[chosen++] = observations[i].values;
  return hfta_parzen_create(space, rows, chosen, out);
}

/// Draws candidates from the good trials' estimator, and writes the best one to
/// `values`. `scratch` has room for two numbers a setting.
static void choose(const hfta_sampler *sampler, int64_t trial,
                   const hfta_parzen *good, const hfta_parzen *bad,
                   double *scratch, double *values) {
  enum { CANDIDATES = 24 };
  int64_t settings = good->space->count;
  double *fractions = scratch, *candidate = scratch + settings;
  double best = -INFINITY;
  for (int64_t i = 0; i < CANDIDATES; ++i) {
    for (int64_t j = 0; j < settings; ++j)
      fractions[j] = hfta_draw(sampler->seed, HFTA_DRAW_QUANTILE, trial, j, i);
    hfta_parzen_draw(good,
                     hfta_draw(sampler->seed, HFTA_DRAW_KERNEL, trial, 0, i),
                     fractions, candidate);
    double gain = hfta_parzen_log_density(good, candidate) -
                  hfta_parzen_log_density(bad, candidate);
    if (i > 0 && !(gain > best))
      continue;
    best = gain;
    memcpy(values, candidate, (size_t)settings * sizeof(*values));
  }
}

hfta_status hfta_tpe_draw(const hfta_sampler *sampler,
                          const hfta_search_space *space, int64_t trial,
                          int64_t known, const hfta_observation *observations,
                          double *values, hfta_error *error) {
  bool *is_good = malloc((size_t)trial * sizeof(*is_good) + 1);
  const double **rows = malloc((size_t)(trial + 1) * sizeof(*rows));
  double *scratch = malloc((size_t)(2 * space->count + 1) * sizeof(*scratch));
  hfta_parzen good = {0}, bad = {0};
  bool has_memory = is_good && rows && scratch;
  if (has_memory) {
    hfta_tpe_split(sampler->direction, observations, trial, known, is_good);
    has_memory =
        estimate(space, observations, trial, is_good, true, rows, &good) &&
        estimate(space, observations, trial, is_good, false, rows, &bad);
  }
  if (has_memory)
    choose(sampler, trial, &good, &bad, scratch, values);
  hfta_parzen_destroy(&good);
  hfta_parzen_destroy(&bad);
  free(is_good);
  free(rows);
  free(scratch);
  if (!has_memory)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the settings of trial %lld",
                     (long long)trial);
  return HFTA_OK;
}
