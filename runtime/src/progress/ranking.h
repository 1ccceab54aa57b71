//===- ranking.h - Copies from the best to the worst --------------*- C -*-===//

#ifndef HFTA_SRC_PROGRESS_RANKING_H
#define HFTA_SRC_PROGRESS_RANKING_H

#include "hfta/program.h"

#include <stdbool.h>

/// The numbers by which copies are compared. Pointers are borrowed.
typedef struct hfta_ranking {
  const double *scores; ///< one per copy; NULL: copies can't be compared
  uint32_t direction;   ///< hfta_direction
  /// The losses of the same data, one per copy: a copy whose loss isn't finite
  /// has diverged, and comes last. May be NULL.
  const double *losses;
  const bool *live; ///< whether each copy runs; NULL: all do
} hfta_ranking;

/// Returns what copies are compared by: the job's objective on validation data,
/// else the first metric on test data, or without one the loss there. Losses
/// and metrics have one value for each copy, the latter for each metric; they
/// are NULL if they aren't known.
hfta_ranking hfta_rank_by(const hfta_program *program,
                          const double *validation_losses,
                          const double *validation_metrics,
                          const double *test_losses,
                          const double *test_metrics);

/// Returns whether a copy's loss or score isn't finite.
bool hfta_has_diverged(const hfta_ranking *ranking, int64_t copy);

/// Writes the numbers of all copies to `order`, from the best to the worst.
/// Copies that have diverged come behind the others, and those that don't run
/// last; equal ones keep the order of their numbers. Returns the number of
/// copies that have a score.
int64_t hfta_rank_copies(const hfta_program *program,
                         const hfta_ranking *ranking, int64_t *order);

#endif // HFTA_SRC_PROGRESS_RANKING_H
