//===- evaluate.h - Evaluation over a data set ------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_EVALUATE_H
#define HFTA_SRC_TRAINING_EVALUATE_H

#include "data/division.h"
#include "hfta/instance.h"

/// Checks that the data set can be evaluated: if a model mixes the samples of a
/// batch, the number of samples must be a multiple of the batch size.
hfta_status hfta_check_evaluated(const hfta_dataset *dataset,
                                 hfta_error *error);

/// Fails with HFTA_USAGE if the program has folds: then training and validation
/// data are those of a fold, which only a search chooses.
hfta_status hfta_refuse_folds(const hfta_program *program, hfta_error *error);

/// Evaluates all copies on the validation data of a fold; `fold` is 0 for a
/// program without folds. `losses` and `metrics` are as below.
hfta_status hfta_evaluate_fold(hfta_instance *instance, const char *data_root,
                               int64_t fold, double *losses, double *metrics);

/// Allocates losses of an evaluation: one value per copy, then those of each
/// term of the loss. Returns NULL if there isn't enough memory.
double *hfta_allocate_losses(const hfta_program *program);

/// Allocates metrics of an evaluation (hfta_program_metric_values). Returns
/// NULL if there isn't enough memory.
double *hfta_allocate_metrics(const hfta_program *program);

/// Writes what the last evaluation has left besides one value per copy behind
/// these in such arrays: terms of the loss, and matrices. `metrics` may be
/// NULL.
void hfta_take_details(const hfta_instance *instance, double *losses,
                       double *metrics);

/// Evaluates all copies on the data set. `losses` get one value per copy, and
/// `metrics` one value per copy for each metric; either may be NULL.
/// `should_stop` (may be NULL) is called after every batch; if it returns true,
/// `*stopped` becomes true and no results are written.
hfta_status hfta_evaluate_dataset(hfta_instance *instance,
                                  const hfta_dataset *dataset, double *losses,
                                  double *metrics, bool (*should_stop)(void *),
                                  void *argument, bool *stopped);

#endif // HFTA_SRC_TRAINING_EVALUATE_H
