//===- metric_values.h - Metrics of evaluated samples -----------*- C -*-===//
//
// A metric keeps sums, or scores, of the samples that an evaluation has seen,
// for each copy. Its formula is applied at the end. Samples are added in their
// order, one after another. So any division of the data into batches,
// micro-batches, replicas and ranks gives the same bits. Elements of weight 0
// don't count, nor do labels that are no class.
//
// Threads: a state is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRAM_METRIC_VALUES_H
#define HFTA_SRC_PROGRAM_METRIC_VALUES_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

/// The state of a metric of one copy.
typedef struct hfta_metric_state {
  double *sums;    ///< hfta_metric_sum_count(metric) sums
  double *records; ///< metrics of ranks: for each element that counts, a record
                   ///< of hfta_metric_record_size(metric) numbers
  int64_t count, room; ///< number of records, and of those that have memory
} hfta_metric_state;

/// The values of some samples, one sample after the other: a label and a weight
/// for each element, and hfta_metric_guess_count(metric) guesses a sample.
typedef struct hfta_metric_columns {
  const double *labels, *guesses, *weights;
} hfta_metric_columns;

/// Returns whether a metric is a matrix of counts, whose sums are its elements,
/// row by row; then it has no value by which copies could be compared.
static inline bool hfta_metric_is_matrix(const hfta_metric *metric) {
  return metric->kind == HFTA_METRIC_CONFUSION;
}

/// Returns the number of guesses, predictions or scores of one sample.
int64_t hfta_metric_guess_count(const hfta_metric *metric);

/// Returns the number of sums of one copy.
int64_t hfta_metric_sum_count(const hfta_metric *metric);

/// Returns the number of doubles that are kept of each element; 0 if only sums
/// are kept.
int64_t hfta_metric_record_size(const hfta_metric *metric);

/// Returns the bytes that are kept of each evaluated sample for one copy.
uint64_t hfta_metric_sample_bytes(const hfta_metric *metric);

/// Forgets all samples, but keeps the memory.
void hfta_metric_clear(const hfta_metric *metric, hfta_metric_state *state);

/// Makes room for further samples. HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_metric_reserve(const hfta_metric *metric,
                                hfta_metric_state *state, int64_t samples,
                                hfta_error *error);

/// Adds samples. HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_metric_add(const hfta_metric *metric, hfta_metric_state *state,
                            const hfta_metric_columns *columns, int64_t samples,
                            hfta_error *error);

/// Computes the metric's value: NaN if no element counts, or for a matrix.
/// HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_metric_value(const hfta_metric *metric,
                              const hfta_metric_state *state, double *out,
                              hfta_error *error);

#endif // HFTA_SRC_PROGRAM_METRIC_VALUES_H
