//===- forecast.h - What jobs at seats will take ----------------*- C -*-===//

#ifndef HFTA_FORECAST_H
#define HFTA_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A job before it begins.
typedef struct hfta_expected_job {
  int64_t steps;       ///< -1: nobody knows
  double step_seconds; ///< 0: nobody knows
  bool spills;         ///< within a budget of memory
  int64_t groups;      ///< of copies that take turns within it: as many seats
                       ///< can have some of them; 0 or 1: it is one
} hfta_expected_job;

/// Seconds from when all begin until the last one ends.
typedef struct hfta_forecast {
  double makespan; ///< longest remaining time first
  double bound;    ///< of any schedule: the longest job, or all divided by the
                   ///< seats
  double one_seat; ///< one after the other
} hfta_forecast;

/// By the decisions that `train --seats` takes, if each step takes what is
/// expected. Returns false, and leaves `*out` alone, if that of a job isn't
/// known or there isn't enough memory.
bool hfta_forecast_jobs(const hfta_expected_job *jobs, int64_t count,
                        int64_t seats, hfta_forecast *out);

#ifdef __cplusplus
}
#endif

#endif // HFTA_FORECAST_H
