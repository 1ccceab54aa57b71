//===- epoch_results.h - What is known after an epoch -------------*- C -*-===//

#ifndef HFTA_SRC_PROGRESS_EPOCH_RESULTS_H
#define HFTA_SRC_PROGRESS_EPOCH_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

/// The results of an epoch, or of its part up to a training's last step. Arrays
/// have one value per copy and are borrowed.
typedef struct hfta_epoch_results {
  int64_t epoch;              ///< counted from 1
  double seconds;             ///< how long the epoch took, without evaluations
  const double *train_losses; ///< means over the epoch
  // The following arrays are NULL if the data weren't evaluated after this
  // epoch; metrics are NULL too if the job has none. Behind the losses are
  // those of each of hfta_program.loss_terms.
  const double *validation_losses, *validation_metrics;
  const double *eval_losses, *eval_metrics; ///< results on the test data
  /// Results of the running averages of weights on the same data; NULL as well
  /// if there are none.
  const double *average_validation_losses, *average_validation_metrics;
  const double *average_eval_losses, *average_eval_metrics;
  const int64_t *best_steps; ///< the steps of the weights that have results on
                             ///< the test data (0: the last one), if they are
                             ///< copies' best ones; else NULL
  const bool *tested; ///< the copies that have results on the test data; NULL:
                      ///< those that run
} hfta_epoch_results;

#endif // HFTA_SRC_PROGRESS_EPOCH_RESULTS_H
