//===- evaluate.h - Evaluation over a data set ------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_EVALUATE_H
#define HFTA_SRC_TRAINING_EVALUATE_H

#include "data/dataset.h"
#include "hfta/instance.h"

/// Checks that the data set can be evaluated: where a model mixes the samples
/// of a batch, it must consist of whole batches.
hfta_status hfta_check_evaluated(const hfta_dataset *dataset,
                                 hfta_error *error);

/// Evaluates the data set. `losses` and `metrics` may be NULL. `should_stop`
/// (NULL is allowed) is called after every batch; if it returns true,
/// `*stopped` is set and the results aren't written.
hfta_status hfta_evaluate_dataset(hfta_instance *instance,
                                  const hfta_dataset *dataset, double *losses,
                                  double *metrics, bool (*should_stop)(void *),
                                  void *argument, bool *stopped);

#endif // HFTA_SRC_TRAINING_EVALUATE_H
