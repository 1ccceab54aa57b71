//===- evaluation_metrics.h - An instance's metrics -------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_EVALUATION_METRICS_H
#define HFTA_SRC_SCHEDULE_EVALUATION_METRICS_H

#include "hfta/instance.h"
#include "program/metric_values.h"

/// Makes room for the samples of a whole evaluation, of the copies that run.
hfta_status hfta_instance_reserve_metrics(hfta_instance *instance,
                                          int64_t samples);

/// Reads the values of a copy's metric from the host's images into
/// `instance->metrics.values`, those of the batch's first `samples` samples, if
/// this rank has them. Returns the number of values. `*columns` says where they
/// are.
int64_t hfta_instance_read_metric(hfta_instance *instance, int64_t copy,
                                  uint32_t metric, int64_t samples,
                                  hfta_metric_columns *columns);

/// Computes all values: `metrics` gets, for each metric of the program, one
/// value per copy.
hfta_status hfta_instance_get_metrics(hfta_instance *instance, double *metrics);

/// Returns the counts of a copy's metric that is a matrix, row by row, from the
/// last evaluation. They belong to the instance.
const double *hfta_instance_metric_matrix(const hfta_instance *instance,
                                          int64_t copy, uint32_t metric);

#endif // HFTA_SRC_SCHEDULE_EVALUATION_METRICS_H
