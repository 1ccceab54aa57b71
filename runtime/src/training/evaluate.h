//===- evaluate.h - Evaluation over a data set ------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_EVALUATE_H
#define HFTA_SRC_TRAINING_EVALUATE_H

#include "data/dataset.h"
#include "hfta/instance.h"

/// `losses` and `metrics` may be NULL. `should_stop` (NULL is allowed) is asked
/// after every batch; if it says so, `*stopped` is true and results are left
/// alone.
hfta_status hfta_evaluate_dataset(hfta_instance *instance,
                                  const hfta_dataset *dataset, double *losses,
                                  double *metrics, bool (*should_stop)(void *),
                                  void *argument, bool *stopped);

#endif // HFTA_SRC_TRAINING_EVALUATE_H
