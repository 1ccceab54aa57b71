//===- info_jobs.c - The command info for several jobs --------------------===//

#include "command_line/info_jobs.h"

#include "data/division.h"
#include "data/feed.h"
#include "hfta/forecast.h"
#include "hfta/json.h"
#include "workload/defaults.h"
#include "workload/memory_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The contents of the printed list.
typedef struct listing {
  const hfta_invocation *invocation;
  int64_t threads;         ///< --threads; 0: each program's default
  hfta_expected_job *jobs; ///< one per program
  bool has_seats, is_forecast;
  hfta_seats seats; ///< valid if has_seats, as are the members below
  hfta_fleet_memory memory;
  hfta_forecast forecast; ///< valid if is_forecast
} listing;

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// Returns the number of steps that the job's own clauses set. Returns -1 if
/// there are no such clauses, or if they count epochs and the data files can't
/// be opened.
static int64_t find_steps(const hfta_program *program, const char *root) {
  if (!hfta_program_trains(program) || program->steps > 0)
    return program->steps;
  if (program->epochs <= 0)
    return -1;
  hfta_training_data data;
  hfta_error error;
  hfta_status status =
      hfta_training_data_open(program, root, /*fold=*/0, &data, &error);
  int64_t steps = status == HFTA_OK ? hfta_steps_per_epoch(&data.train) : 0;
  hfta_training_data_close(&data);
  return steps == 0 || program->epochs > INT64_MAX / steps
             ? -1
             : program->epochs * steps;
}

static hfta_expected_job expect(const hfta_program *program, const char *root) {
  return (hfta_expected_job){.steps = find_steps(program, root),
                             .step_seconds = program->step_seconds,
                             .spills = hfta_program_spills(program),
                             .groups = hfta_program_group_count(program)};
}

/// Returns the planned peak memory in bytes of a program, at a seat if seats
/// are given, else trained alone.
static uint64_t find_peak(const listing *self, const hfta_program *program) {
  int64_t threads = self->has_seats
                        ? self->seats.options.threads
                        : hfta_program_threads(program, self->threads);
  return hfta_program_memory(program, (int)threads).peak;
}

/// Returns the number of steps of a unit, after which the job may lose its
/// seat.
static double find_unit(const hfta_expected_job *job) {
  double steps = ceil(HFTA_UNIT_SECONDS / job->step_seconds);
  return steps > 1.0 ? steps : 1.0;
}

static void print_jobs(const listing *self) {
  int width = 3;
  for (int64_t i = 0; i < self->invocation->program_count; ++i) {
    int length = (int)strlen(self->invocation->programs[i]->name);
    width = length > width ? length : width;
  }
  printf("%-*s  %7s%8s%10s%12s%12s%8s%17s\n", width, "job", "copies", "batch",
         "steps", "step (s)", "all (s)", "unit", "memory (bytes)");
  for (int64_t i = 0; i < self->invocation->program_count; ++i) {
    const hfta_program *program = self->invocation->programs[i];
    const hfta_expected_job *job = &self->jobs[i];
    char steps[24] = "-", all[24] = "-", step[24] = "-", unit[24] = "-";
    if (job->steps >= 0)
      snprintf(steps, sizeof(steps), "%lld", (long long)job->steps);
    if (job->step_seconds > 0) {
      snprintf(step, sizeof(step), "%.6f", job->step_seconds);
      snprintf(unit, sizeof(unit), "%.0f", find_unit(job));
    }
    if (job->steps >= 0 && job->step_seconds > 0)
      snprintf(all, sizeof(all), "%.2f",
               (double)job->steps * job->step_seconds);
    printf("%-*s  %7lld%8lld%10s%12s%12s%8s%17llu%s", width, program->name,
           (long long)program->copies, (long long)program->batch, steps, step,
           all, unit, (unsigned long long)find_peak(self, program),
           job->spills ? "  spills" : "");
    if (job->groups > 1)
      printf(", %lld groups", (long long)job->groups);
    printf("\n");
  }
}

static void print_seats(const listing *self) {
  const hfta_fleet_options *options = &self->seats.options;
  const hfta_fleet_memory *memory = &self->memory;
  printf("\nseats %lld, threads %d each, places %d each\n",
         (long long)options->seats, options->threads, memory->places);
  printf("  %-18s%16llu bytes\n", "all jobs",
         (unsigned long long)memory->models);
  printf("  %-18s%16llu bytes\n", "a seat",
         (unsigned long long)(memory->seat +
                              (uint64_t)(memory->places - 1) * memory->arena));
  printf("  %-18s%16llu bytes\n", "together", (unsigned long long)memory->all);
  if (!self->is_forecast) {
    printf("\nthe time can't be estimated: it needs the number of steps of "
           "each job, which follows from the job or from its data files\n");
    return;
  }
  printf("\nby estimated costs, all jobs\n");
  printf("  %-18s%16.2f s\n", "lrtf", self->forecast.makespan);
  printf("  %-18s%16.2f s\n", "at least", self->forecast.bound);
  printf("  %-18s%16.2f s\n", "model_parallel", self->forecast.one_seat);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Writes a key with a number, or null if it isn't known.
static void put_real(hfta_json_writer *writer, const char *key, bool is_known,
                     double value) {
  hfta_json_key(writer, key);
  if (is_known)
    hfta_json_number(writer, value, HFTA_F64);
  else
    hfta_json_null(writer);
}

static void write_job(const listing *self, int64_t index,
                      hfta_json_writer *writer) {
  const hfta_program *program = self->invocation->programs[index];
  const hfta_expected_job *job = &self->jobs[index];
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "name", program->name);
  hfta_json_put_integer(writer, "copies", program->copies);
  hfta_json_put_integer(writer, "batch", program->batch);
  hfta_json_put_string(writer, "identity", program->models[0].identity);
  hfta_json_key(writer, "steps");
  if (job->steps >= 0)
    hfta_json_integer(writer, job->steps);
  else
    hfta_json_null(writer);
  put_real(writer, "step_seconds", job->step_seconds > 0, job->step_seconds);
  hfta_json_put_unsigned(writer, "peak_bytes", find_peak(self, program));
  hfta_json_put_boolean(writer, "spills", job->spills);
  hfta_json_put_integer(writer, "groups", job->groups);
  hfta_json_end_object(writer);
}

static void write_seats(const listing *self, hfta_json_writer *writer) {
  const hfta_forecast *forecast = &self->forecast;
  bool is_known = self->is_forecast;
  hfta_json_key(writer, "seats");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "count", self->seats.options.seats);
  hfta_json_put_integer(writer, "threads", self->seats.options.threads);
  hfta_json_put_integer(writer, "places", self->memory.places);
  hfta_json_put_unsigned(writer, "jobs_bytes", self->memory.models);
  hfta_json_put_unsigned(writer, "seat_bytes", self->memory.seat);
  hfta_json_put_unsigned(writer, "arena_bytes", self->memory.arena);
  hfta_json_put_unsigned(writer, "all_bytes", self->memory.all);
  put_real(writer, "makespan", is_known, forecast->makespan);
  put_real(writer, "lower_bound", is_known, forecast->bound);
  put_real(writer, "model_parallel", is_known, forecast->one_seat);
  hfta_json_end_object(writer);
}

static hfta_status write_json(const listing *self, hfta_error *error) {
  hfta_json_writer writer;
  hfta_json_to_file(&writer, stdout);
  hfta_json_begin_object(&writer);
  hfta_json_key(&writer, "jobs");
  hfta_json_begin_array(&writer);
  for (int64_t i = 0; i < self->invocation->program_count; ++i)
    write_job(self, i, &writer);
  hfta_json_end_array(&writer);
  if (self->has_seats)
    write_seats(self, &writer);
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  return hfta_json_finish(&writer, error);
}

//===----------------------------------------------------------------------===//
// The whole list
//===----------------------------------------------------------------------===//

static hfta_status check_programs(const hfta_invocation *invocation,
                                  hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < invocation->program_count && status == HFTA_OK; ++i)
    status = hfta_program_check(invocation->programs[i], error);
  return status;
}

static void fill(listing *self, const char *data_root) {
  const hfta_invocation *invocation = self->invocation;
  for (int64_t i = 0; i < invocation->program_count; ++i)
    self->jobs[i] = expect(invocation->programs[i], data_root);
  if (!self->has_seats)
    return;
  self->memory = hfta_fleet_plan_memory(&self->seats.options);
  self->is_forecast =
      hfta_forecast_jobs(self->jobs, invocation->program_count,
                         self->seats.options.seats, &self->forecast);
}

static int list(listing *self, const hfta_seat_arguments *arguments,
                const char *data_root, bool json) {
  const hfta_invocation *invocation = self->invocation;
  hfta_error error;
  hfta_status status = check_programs(invocation, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  int code = self->has_seats
                 ? hfta_choose_seats(invocation, arguments, &self->seats)
                 : -1;
  if (code >= 0)
    return code;
  self->jobs = calloc((size_t)invocation->program_count, sizeof(*self->jobs));
  if (!self->jobs)
    return hfta_report(invocation, HFTA_UNSUPPORTED,
                       "not enough memory for jobs");
  fill(self, data_root);
  if (json) {
    status = write_json(self, &error);
    return status == HFTA_OK ? HFTA_OK
                             : hfta_report(invocation, status, error.message);
  }
  print_jobs(self);
  if (self->has_seats)
    print_seats(self);
  return HFTA_OK;
}

int hfta_list_jobs(const hfta_invocation *invocation,
                   const hfta_seat_arguments *arguments, const char *data_root,
                   bool json) {
  listing self = {.invocation = invocation,
                  .threads = arguments->threads,
                  .has_seats = arguments->seats > 0};
  int code = list(&self, arguments, data_root, json);
  hfta_seats_free(&self.seats);
  free(self.jobs);
  return code;
}
