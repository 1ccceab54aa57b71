//===- objective.h - The numbers by which runs are compared -------*- C -*-===//

#ifndef HFTA_SRC_HISTORY_OBJECTIVE_H
#define HFTA_SRC_HISTORY_OBJECTIVE_H

#include "hfta/program.h"
#include "history/history.h"

typedef struct hfta_objective {
  const hfta_series *series; ///< among those of epochs; NULL: there is none
  bool is_maximized;
} hfta_objective;

/// Finds the series by which a job's runs are compared: that of a search; else
/// the objective of the program of this name among `count`, on validation data
/// or, without these, its first metric on test data; else the first metric that
/// the log has. Losses come after metrics, and the train loss last. A series of
/// a program that isn't there is maximized unless its name is that of a loss or
/// an error.
hfta_objective hfta_find_objective(const hfta_history *self,
                                   const hfta_program *const *programs,
                                   int64_t count);

/// Returns a run's last value of a series, of all folds the mean; missing if it
/// has none. Sets `*epoch`, unless it is NULL, to the value's epoch.
double hfta_last_value(const hfta_history *self, const hfta_series *series,
                       int64_t run, int64_t *epoch);

/// Returns whether a value is better than another one. What isn't finite is
/// worse than anything that is.
bool hfta_is_better(const hfta_objective *objective, double value,
                    double other);

#endif // HFTA_SRC_HISTORY_OBJECTIVE_H
