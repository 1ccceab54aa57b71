//===- forecast.c - What jobs at seats will take --------------------------===//

#include "hfta/forecast.h"

#include "fleet/seating.h"

#include <math.h>

/// As if each had been timed and were about to ask for a seat.
static void prepare(hfta_model_seating *row, const hfta_expected_job *job) {
  row->spills = job->spills;
  row->steps_left = job->steps;
  row->step_seconds = job->step_seconds;
  row->timed_steps = 1;
  row->timed_seconds = job->step_seconds;
}

bool hfta_forecast_jobs(const hfta_expected_job *jobs, int64_t count,
                        int64_t seats, hfta_forecast *out) {
  hfta_seating seating;
  hfta_error error;
  for (int64_t i = 0; i < count; ++i)
    if (jobs[i].steps < 0 || !(jobs[i].step_seconds > 0))
      return false;
  if (hfta_seating_create(HFTA_SCHEDULER_LRTF, count, seats, HFTA_SEAT_PLACES,
                          &seating, &error) != HFTA_OK)
    return false;
  hfta_forecast forecast = {.one_seat = 0};
  for (int64_t i = 0; i < count; ++i) {
    prepare(&seating.models[i], &jobs[i]);
    forecast.one_seat += hfta_model_remaining(&seating.models[i]);
  }
  forecast.makespan = hfta_seating_forecast(&seating);
  forecast.bound = hfta_seating_bound(&seating);
  hfta_seating_destroy(&seating);
  if (isnan(forecast.makespan))
    return false;
  *out = forecast;
  return true;
}
