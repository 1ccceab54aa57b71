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
  int64_t steps;       ///< number of steps; -1: unknown
  double step_seconds; ///< duration of a step in seconds; 0: unknown
  bool spills;         ///< whether it has a memory budget and spills
  int64_t groups; ///< number of groups of copies that take turns within the
                  ///< memory budget; the groups can be distributed among
                  ///< several seats; 0 or 1: the job can't be divided
} hfta_expected_job;

/// The time in seconds from the start of all jobs until the last one ends.
typedef struct hfta_forecast {
  double makespan; ///< if the job with the longest remaining time goes first,
                   ///< as in `train --seats`
  double bound;    ///< a lower bound for any schedule: the time of the longest
                   ///< job, or the sum of all divided by the number of seats,
                   ///< whichever is larger
  double one_seat; ///< with one seat, which trains one job after the other
} hfta_forecast;

/// Forecasts jobs at `seats` seats: repeats the decisions of `train --seats`
/// for steps that take the expected time. Returns false, and leaves `*out`
/// unchanged, if the number or the duration of a job's steps is unknown, or if
/// there isn't enough memory.
bool hfta_forecast_jobs(const hfta_expected_job *jobs, int64_t count,
                        int64_t seats, hfta_forecast *out);

#ifdef __cplusplus
}
#endif

#endif // HFTA_FORECAST_H
