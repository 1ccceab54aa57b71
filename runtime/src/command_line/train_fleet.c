//===- train_fleet.c - Trains several jobs at the same time, at seats -----===//

#include "command_line/train.h"

#include "command_line/seats.h"
#include "fleet/fleet_workload.h"
#include "progress/screen.h"
#include "system/thread.h"
#include "trace/trace_elements.h"
#include "trace/trace_seats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The state of the command, which the jobs' threads share.
typedef struct fleet {
  const hfta_invocation *invocation;
  const hfta_train_arguments *arguments;
  hfta_seats seats;
  hfta_fleet *fleet;
  hfta_screen *screen;
  hfta_seat_trace *trace;
  struct job *jobs;
  hfta_fleet_model **models;
  const char **names; ///< one per job
  const char **model_names;
} fleet;

/// A job, which is trained on a thread of its own.
typedef struct job {
  hfta_invocation invocation; ///< a copy for this job; its rank state is that
                              ///< of a process alone
  hfta_rank_state ranks;
  hfta_train_arguments arguments;
  hfta_fleet_model *const *models; ///< the fleet's models of the job's parts
  int64_t part_count;
  pthread_t thread;
  bool is_started;
  int code;
} job;

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// Makes the job's models leave the fleet, so that others get their seats.
static void quit(const job *self) {
  for (int64_t i = 0; i < self->part_count; ++i)
    hfta_fleet_quit(self->models[i]);
}

static void *job_main(void *argument) {
  job *self = argument;
  self->code = hfta_train_job(&self->invocation, &self->arguments);
  quit(self);
  return NULL;
}

/// Starts the job's thread. A job whose thread can't be started fails and
/// leaves the fleet.
static void start(job *self) {
  int code = hfta_thread_start(&self->thread, job_main, self);
  self->is_started = code == 0;
  if (self->is_started)
    return;
  char message[160];
  snprintf(message, sizeof(message), "cannot start the job's thread: %s",
           strerror(code));
  self->code = hfta_report(&self->invocation, HFTA_UNSUPPORTED, message);
  hfta_screen_finish(self->invocation.screen,
                     self->arguments.options.screen_block, HFTA_SCREEN_FAILED,
                     0);
  quit(self);
}

/// Prepares job number `number`, whose first model is number `first`.
static void prepare(const fleet *self, int64_t number, int64_t first) {
  job *one = &self->jobs[number];
  one->models = &self->models[first];
  one->part_count = self->seats.parts[number];
  one->invocation = *self->invocation;
  one->invocation.ranks = &one->ranks;
  one->invocation.screen = self->screen;
  if (self->invocation->program_count > 1)
    hfta_go_on_to_job(&one->invocation, number);
  one->arguments = *self->arguments;
  one->arguments.threads = self->seats.options.threads;
  one->arguments.trainings = &self->seats.trainings[first];
  one->arguments.models = one->models;
  one->arguments.part_count = one->part_count;
  hfta_train_options *options = &one->arguments.options;
  options->model = one->models[0];
  options->trace_path = NULL;
  options->screen = self->screen;
  options->screen_block = number;
}

/// Trains all jobs and waits until they have ended.
static void run(const fleet *self) {
  const int64_t count = self->invocation->program_count;
  for (int64_t i = 0, first = 0; i < count; first += self->seats.parts[i++])
    prepare(self, i, first);
  for (int64_t i = 0; i < count; ++i)
    start(&self->jobs[i]);
  for (int64_t i = 0; i < count; ++i)
    if (self->jobs[i].is_started)
      pthread_join(self->jobs[i].thread, NULL);
}

/// Returns the exit code of a job that a signal has stopped, if there is one,
/// else that of the first failed job.
static int find_code(const job *jobs, int64_t count) {
  int failure = HFTA_OK;
  for (int64_t i = 0; i < count; ++i)
    if (jobs[i].code >= 128)
      return jobs[i].code;
  for (int64_t i = 0; i < count && failure == HFTA_OK; ++i)
    failure = jobs[i].code;
  return failure;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void announce(const fleet *self) {
  const hfta_fleet_options *options = &self->seats.options;
  hfta_fleet_memory plan = hfta_fleet_plan_memory(options);
  fprintf(stderr,
          "%s: %lld models at %lld seats, threads %d each, %s; %.1f MiB of "
          "memory\n",
          self->invocation->binary, (long long)options->models,
          (long long)options->seats, options->threads,
          hfta_scheduler_name(options->scheduler),
          (double)plan.all / (1 << 20));
}

static void print_summary(const fleet *self) {
  hfta_fleet_summary summary = hfta_fleet_summarize(self->fleet);
  fprintf(stderr, "%s: %.2f s, seats taken for %.1f %% of it",
          self->invocation->binary, summary.seconds, 100.0 * summary.busy);
  if (!isnan(summary.forecast))
    fprintf(stderr, "; expected %.2f s, at least %.2f s", summary.forecast,
            summary.bound);
  fputc('\n', stderr);
}

/// Passes a unit of work that has ended to the trace (hfta_fleet_options.done).
static void trace_unit(void *argument, const hfta_unit *unit) {
  const hfta_seat_kind kinds[] = {[HFTA_UNIT_START] = HFTA_SEAT_START,
                                  [HFTA_UNIT_STEPS] = HFTA_SEAT_STEPS,
                                  [HFTA_UNIT_EVALUATION] = HFTA_SEAT_EVALUATE};
  const hfta_seat_event event = {.seat = (uint32_t)unit->seat,
                                 .place = (uint32_t)unit->place,
                                 .job = (uint32_t)unit->model,
                                 .first_step = unit->first_step,
                                 .steps = unit->steps,
                                 .kind = kinds[unit->kind],
                                 .begin = unit->begin,
                                 .end = unit->end};
  hfta_seat_trace_note(argument, &event);
}

static hfta_status allocate(fleet *self, hfta_error *error) {
  const size_t jobs = (size_t)self->invocation->program_count;
  const size_t models = (size_t)self->seats.options.models;
  self->jobs = calloc(jobs, sizeof(*self->jobs));
  self->names = calloc(jobs, sizeof(*self->names));
  self->models = calloc(models, sizeof(*self->models));
  self->model_names = calloc(models, sizeof(*self->model_names));
  if (!self->jobs || !self->names || !self->models || !self->model_names)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for jobs");
  for (size_t i = 0; i < jobs; ++i)
    self->names[i] = self->invocation->programs[i]->name;
  for (size_t i = 0; i < models; ++i)
    self->model_names[i] = self->seats.trainings[i].name;
  return HFTA_OK;
}

static hfta_status open_trace(fleet *self, hfta_error *error) {
  hfta_fleet_options *options = &self->seats.options;
  options->done = trace_unit;
  hfta_status status = hfta_seat_trace_open(
      self->arguments->options.trace_path, self->model_names,
      (uint32_t)options->models, (uint32_t)options->seats,
      (uint32_t)hfta_fleet_plan_memory(options).places, &self->trace, error);
  options->done_argument = self->trace;
  return status;
}

static hfta_status open_all(fleet *self, hfta_error *error) {
  const hfta_fleet_options *options = &self->seats.options;
  hfta_status status = allocate(self, error);
  if (status == HFTA_OK)
    status = open_trace(self, error);
  if (status == HFTA_OK && self->arguments->workload)
    status = hfta_trace_check_path(self->arguments->workload, error);
  if (status == HFTA_OK)
    status = hfta_fleet_open(options, &self->fleet, error);
  for (int64_t i = 0; status == HFTA_OK && i < options->models; ++i)
    self->models[i] = hfta_fleet_get(self->fleet, i);
  if (status == HFTA_OK)
    status =
        hfta_screen_open(self->names, self->invocation->program_count,
                         !self->arguments->no_progress, &self->screen, error);
  return status;
}

/// Writes the trace, the summary and the workload file. Returns the command's
/// exit code. If one of the files can't be written, the command fails, but none
/// of the jobs.
static int finish(const fleet *self) {
  int code = find_code(self->jobs, self->invocation->program_count);
  hfta_error error;
  int64_t dropped;
  hfta_status status = hfta_seat_trace_finish(self->trace, &dropped, &error);
  if (dropped > 0)
    fprintf(stderr,
            "%s: note: the trace lacks %lld events: it has no room for them\n",
            self->invocation->binary, (long long)dropped);
  if (!self->arguments->no_progress)
    print_summary(self);
  if (status == HFTA_OK && self->arguments->workload)
    status = hfta_fleet_write_workload(self->fleet, self->arguments->workload,
                                       &error);
  if (status == HFTA_OK)
    return code;
  int failure = hfta_report(self->invocation, status, error.message);
  return code == HFTA_OK ? failure : code;
}

static void close_all(fleet *self) {
  hfta_screen_close(self->screen);
  hfta_fleet_close(self->fleet);
  hfta_seat_trace_close(self->trace);
  free(self->jobs);
  free(self->names);
  free(self->models);
  free(self->model_names);
  hfta_seats_free(&self->seats);
}

int hfta_train_fleet(const hfta_invocation *invocation,
                     const hfta_train_arguments *arguments) {
  fleet self = {.invocation = invocation, .arguments = arguments};
  hfta_error error;
  hfta_seat_arguments seats = {.seats = arguments->seats,
                               .threads = arguments->threads,
                               .scheduler = arguments->scheduler,
                               .device = arguments->device};
  int code = hfta_choose_seats(invocation, &seats, &self.seats);
  if (code >= 0) {
    hfta_seats_free(&self.seats);
    return code;
  }
  hfta_fleet_options *options = &self.seats.options;
  options->should_stop = arguments->options.should_stop;
  options->should_stop_argument = arguments->options.should_stop_argument;
  hfta_status status = open_all(&self, &error);
  if (status == HFTA_OK) {
    if (!arguments->no_progress)
      announce(&self);
    run(&self);
    hfta_screen_close(self.screen);
    self.screen = NULL;
    code = finish(&self);
  } else {
    code = hfta_report(invocation, status, error.message);
  }
  close_all(&self);
  return code;
}
