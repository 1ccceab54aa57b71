//===- forecast.c - How long jobs at seats will take ----------------------===//

#include "hfta/forecast.h"

#include "fleet/seating.h"
#include "fleet/training.h"

#include <math.h>

static int64_t count_parts(const hfta_expected_job *job, int64_t seats) {
  return hfta_count_parts(job->groups > 1 ? job->groups : 1, seats);
}

/// Fills in the row of one of a job's `parts` parts, as if it had been timed
/// and were about to wait for a seat.
static void prepare(hfta_model_seating *row, const hfta_expected_job *job,
                    int64_t parts) {
  row->spills = job->spills;
  row->steps_left = job->steps;
  row->step_seconds = job->step_seconds / (double)parts;
  row->timed_steps = 1;
  row->timed_seconds = row->step_seconds;
}

/// Creates a seating with the parts of all jobs. Returns false if there isn't
/// enough memory.
static bool make_seating(const hfta_expected_job *jobs, int64_t count,
                         int64_t seats, hfta_seating *out) {
  int64_t models = 0;
  hfta_error error;
  for (int64_t i = 0; i < count; ++i)
    models += count_parts(&jobs[i], seats);
  if (hfta_seating_create(HFTA_SCHEDULER_LRTF, models, seats, HFTA_SEAT_PLACES,
                          out, &error) != HFTA_OK)
    return false;
  hfta_model_seating *next = out->models;
  for (int64_t i = 0; i < count; ++i) {
    int64_t parts = count_parts(&jobs[i], seats);
    for (int64_t part = 0; part < parts; ++part)
      prepare(next++, &jobs[i], parts);
  }
  return true;
}

bool hfta_forecast_jobs(const hfta_expected_job *jobs, int64_t count,
                        int64_t seats, hfta_forecast *out) {
  hfta_seating seating;
  hfta_forecast forecast = {.one_seat = 0};
  for (int64_t i = 0; i < count; ++i) {
    if (jobs[i].steps < 0 || !(jobs[i].step_seconds > 0))
      return false;
    forecast.one_seat += (double)jobs[i].steps * jobs[i].step_seconds;
  }
  if (!make_seating(jobs, count, seats, &seating))
    return false;
  forecast.makespan = hfta_seating_forecast(&seating);
  forecast.bound = hfta_seating_bound(&seating);
  hfta_seating_destroy(&seating);
  if (isnan(forecast.makespan))
    return false;
  *out = forecast;
  return true;
}
