//===- seats.c - Options for training at seats ----------------------------===//

#include "command_line/seats.h"

#include "hfta/device.h"
#include "hfta/pool.h"
#include "system/memory_limit.h"

#include <stdlib.h>
#include <string.h>

bool hfta_takes_seats(const hfta_invocation *invocation) {
  return invocation->program_count > 1 ||
         hfta_program_group_count(invocation->program) > 1;
}

/// Finds a scheduler by its name; LRTF if `name` is NULL. Returns -1, or the
/// exit code after an error message.
static int choose_scheduler(const hfta_invocation *invocation, const char *name,
                            hfta_scheduler *out) {
  *out = HFTA_SCHEDULER_LRTF;
  for (int i = 0; i < HFTA_SCHEDULER_COUNT; ++i)
    if (!name || strcmp(name, hfta_scheduler_name((hfta_scheduler)i)) == 0) {
      *out = (hfta_scheduler)i;
      return -1;
    }
  return hfta_report_usage(invocation,
                           "option '--scheduler': unknown '%.100s', expected "
                           "lrtf, fifo, srtf, random, exact or "
                           "model_parallel",
                           name);
}

/// Chooses the number of threads of each seat: an equal share of `threads`, or
/// of the processors if that is 0, but not more than any job's memory is
/// planned for. Returns -1, or the exit code after an error message.
static int choose_threads(const hfta_invocation *invocation, int64_t threads,
                          int64_t seats, int *out) {
  if (threads > 0 && threads < seats)
    return hfta_report_usage(invocation,
                             "option '--threads': %lld for %lld seats: "
                             "expected at least one for each",
                             (long long)threads, (long long)seats);
  int64_t all = threads > 0 ? threads : hfta_pool_default_threads();
  int64_t each = all < seats ? 1 : all / seats;
  for (int64_t i = 0; i < invocation->program_count; ++i) {
    const hfta_program *program = invocation->programs[i];
    int64_t most = program->memory_threads;
    if (most == 0 || each <= most)
      continue;
    if (threads > 0)
      return hfta_report_usage(invocation,
                               "option '--threads': job '%s' plans memory for "
                               "at most %lld, and a seat has %lld",
                               program->name, (long long)most, (long long)each);
    each = most;
  }
  *out = (int)each;
  return -1;
}

/// Refuses jobs that have several stages and a memory budget: a seat has one
/// arena, but each stage's worker needs its own. Returns -1, or the exit code
/// after an error message.
static int check_stages(const hfta_invocation *invocation) {
  for (int64_t i = 0; i < invocation->program_count; ++i) {
    const hfta_program *program = invocation->programs[i];
    if (program->stage_count == 1 || program->arena_bytes == 0)
      continue;
    char message[256];
    snprintf(message, sizeof(message),
             "job '%s' has several stages within a budget of memory: it can't "
             "train at a seat; without '--seats' it can",
             program->name);
    return hfta_report(invocation, HFTA_UNSUPPORTED, message);
  }
  return -1;
}

/// Divides jobs whose copies take turns in groups into parts, as many as groups
/// but at most as many as seats. Each part is a model of the fleet.
static hfta_status split(const hfta_invocation *invocation, int64_t seats,
                         hfta_seats *out, hfta_error *error) {
  const int64_t jobs = invocation->program_count;
  int64_t count = 0;
  out->parts = calloc((size_t)jobs, sizeof(*out->parts));
  for (int64_t i = 0; out->parts && i < jobs; ++i) {
    out->parts[i] = hfta_fleet_count_parts(invocation->programs[i], seats);
    count += out->parts[i];
  }
  out->trainings = calloc((size_t)count + 1, sizeof(*out->trainings));
  if (!out->parts || !out->trainings)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for jobs");
  hfta_fleet_training *next = out->trainings;
  for (int64_t i = 0; i < jobs; ++i)
    for (int64_t part = 0; part < out->parts[i]; ++part)
      *next++ =
          hfta_fleet_take_part(invocation->programs[i], out->parts[i], part);
  out->options = (hfta_fleet_options){.trainings = out->trainings,
                                      .models = count,
                                      .seats = seats < count ? seats : count,
                                      .memory = hfta_memory_limit()};
  return HFTA_OK;
}

int hfta_choose_seats(const hfta_invocation *invocation,
                      const hfta_seat_arguments *arguments, hfta_seats *out) {
  hfta_error error;
  *out = (hfta_seats){.trainings = NULL};
  const hfta_device_functions *kind =
      arguments->device ? hfta_device_find(arguments->device) : NULL;
  if (kind && kind->takes_file)
    return hfta_report_usage(
        invocation, "device '%s' runs no tasks: it is for 'bench'", kind->kind);
  hfta_status status = split(invocation, arguments->seats, out, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  hfta_fleet_options *options = &out->options;
  options->device = arguments->device;
  int code =
      choose_scheduler(invocation, arguments->scheduler, &options->scheduler);
  if (code < 0)
    code = choose_threads(invocation, arguments->threads, options->seats,
                          &options->threads);
  return code < 0 ? check_stages(invocation) : code;
}

void hfta_seats_free(hfta_seats *seats) {
  free(seats->trainings);
  free(seats->parts);
}
