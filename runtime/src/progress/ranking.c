//===- ranking.c - Copies from the best to the worst ----------------------===//

#include "progress/ranking.h"

#include "program/metric_values.h"

#include <math.h>
#include <stdlib.h>

/// Returns the values of metric `index`.
static const double *metric_values(const hfta_program *program,
                                   const double *metrics, uint32_t index) {
  return metrics + (int64_t)index * program->copies;
}

hfta_ranking hfta_rank_by(const hfta_program *program,
                          const double *validation_losses,
                          const double *validation_metrics,
                          const double *test_losses,
                          const double *test_metrics) {
  hfta_ranking ranking = {.direction = HFTA_MINIMIZE};
  const hfta_validation *validation = &program->validation;
  if (validation_losses) {
    ranking.scores = ranking.losses = validation_losses;
    if (validation->by_metric > 0 && validation_metrics) {
      ranking.scores =
          metric_values(program, validation_metrics, validation->by_metric - 1);
      ranking.direction = validation->direction;
    }
    return ranking;
  }
  ranking.scores = ranking.losses = test_losses;
  for (uint32_t i = 0; test_metrics && i < program->metric_count; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i])) {
      ranking.scores = metric_values(program, test_metrics, i);
      ranking.direction = program->metrics[i].direction;
      break;
    }
  return ranking;
}

static bool runs(const hfta_ranking *ranking, int64_t copy) {
  return !ranking->live || ranking->live[copy];
}

bool hfta_has_diverged(const hfta_ranking *ranking, int64_t copy) {
  return (ranking->losses && !isfinite(ranking->losses[copy])) ||
         (ranking->scores && !isfinite(ranking->scores[copy]));
}

/// Returns 0 for a copy with a score, 1 for one that has diverged, 2 for one
/// that doesn't run.
static int kind_of(const hfta_ranking *ranking, int64_t copy) {
  return !runs(ranking, copy) ? 2 : hfta_has_diverged(ranking, copy);
}

/// A copy that is compared with others.
typedef struct entry {
  int64_t copy;
  int kind;
  double score; ///< smaller is better
} entry;

static int compare_entries(const void *left, const void *right) {
  const entry *a = left, *b = right;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->kind == 0 && a->score != b->score)
    return a->score < b->score ? -1 : 1;
  return (a->copy > b->copy) - (a->copy < b->copy);
}

int64_t hfta_rank_copies(const hfta_program *program,
                         const hfta_ranking *ranking, int64_t *order) {
  int64_t copies = program->copies, scored = 0;
  double sign = ranking->direction == HFTA_MAXIMIZE ? -1 : 1;
  entry *entries = calloc((size_t)copies, sizeof(*entries));
  for (int64_t copy = 0; copy < copies; ++copy) {
    order[copy] = copy;
    int kind = kind_of(ranking, copy);
    scored += ranking->scores && kind == 0;
    if (entries)
      entries[copy] = (entry){
          copy, kind, ranking->scores ? sign * ranking->scores[copy] : 0};
  }
  // Without memory, copies keep the order of their numbers.
  if (!entries)
    return scored;
  qsort(entries, (size_t)copies, sizeof(*entries), compare_entries);
  for (int64_t i = 0; i < copies; ++i)
    order[i] = entries[i].copy;
  free(entries);
  return scored;
}
