//===- metric_states.h - The metrics of an evaluation -----------*- C -*-===//
//
// An instance keeps a state for each of the program's metrics and each copy,
// to which an evaluation adds its samples. Metrics of ranks keep the scores of
// all samples in the host's memory, until the next evaluation reuses it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRAM_METRIC_STATES_H
#define HFTA_SRC_PROGRAM_METRIC_STATES_H

#include "program/metric_values.h"

/// The states of all metrics, and memory for one metric's values of a batch.
typedef struct hfta_metric_states {
  hfta_metric_state *all; ///< for each copy, one for each metric
  double *sums;           ///< memory of their sums
  double *values;
  int64_t value_count; ///< number of the values of the metric that has most
} hfta_metric_states;

/// Allocates the states. HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_metric_states_open(hfta_metric_states *self,
                                    const hfta_program *program,
                                    hfta_error *error);
void hfta_metric_states_close(hfta_metric_states *self,
                              const hfta_program *program);

/// Returns the state of a copy's metric.
hfta_metric_state *hfta_metric_state_of(const hfta_metric_states *self,
                                        const hfta_program *program,
                                        int64_t copy, uint32_t metric);

/// Forgets all samples, of all copies.
void hfta_metric_states_clear(hfta_metric_states *self,
                              const hfta_program *program);

#endif // HFTA_SRC_PROGRAM_METRIC_STATES_H
