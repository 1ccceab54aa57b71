//===- forecast.h - How long jobs at seats will take --------------*- C -*-===//

#ifndef HFTA_FORECAST_H
#define HFTA_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A job that hasn't begun.
typedef struct hfta_expected_job {
  int64_t steps;       ///< -1: unknown
  double step_seconds; ///< 0: unknown
  bool spills;         ///< whether it has a budget of memory and spills
  int64_t groups;      ///< groups of copies that take turns within the budget;
                  ///< several seats can each have some of the groups; 0 or 1:
                  ///< the job can't be divided
} hfta_expected_job;

/// Seconds from when all jobs begin until the last one ends.
typedef struct hfta_forecast {
  double makespan; ///< with the longest remaining job first
  double bound; ///< a lower bound of any schedule: the longest job, or the sum
                ///< of all divided by the number of seats
  double one_seat; ///< with one seat: one job after the other
} hfta_forecast;

/// Computes a forecast by the decisions that `train --seats` makes, if each
/// step takes the expected time. Returns false, and doesn't change `*out`, if a
/// job's expected time isn't known or there isn't enough memory.
bool hfta_forecast_jobs(const hfta_expected_job *jobs, int64_t count,
                        int64_t seats, hfta_forecast *out);

#ifdef __cplusplus
}
#endif

#endif // HFTA_FORECAST_H
