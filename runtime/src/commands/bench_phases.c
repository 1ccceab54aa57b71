//===- bench_phases.c - A step's phases beside their limits ---------------===//

#include "commands/bench_phases.h"

#include "hfta/json.h"

#include <stdlib.h>
#include <string.h>

/// Work of one run of a task.
typedef struct work {
  double flops, bytes;
} work;

static work *find_work(const hfta_program *program, const char *name,
                       work *all) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (strcmp(program->tasks[i].name, name) == 0)
      return &all[i];
  return NULL;
}

/// Reads one entry of the plan's list of tasks, whose object has begun.
static bool read_task(const hfta_program *program, hfta_json_reader *reader,
                      work *all) {
  work read = {0, 0};
  work *into = NULL;
  for (;;) {
    hfta_json_event event = hfta_json_next(reader);
    if (event != HFTA_JSON_KEY) {
      if (into)
        *into = read;
      return event == HFTA_JSON_END_OBJECT;
    }
    bool is_flops = strcmp(reader->string, "flops") == 0;
    bool is_bytes = strncmp(reader->string, "bytes_", 6) == 0;
    bool is_name = strcmp(reader->string, "name") == 0;
    event = hfta_json_next(reader);
    if (is_flops)
      read.flops = reader->number;
    else if (is_bytes)
      read.bytes += reader->number;
    else if (is_name && event == HFTA_JSON_STRING)
      into = find_work(program, reader->string, all);
    else if (!hfta_json_skip(reader, event))
      return false;
  }
}

/// The tasks' work by the plan; false if it says nothing.
static bool read_work(const hfta_program *program, work *all) {
  if (!program->plan_json || !*program->plan_json)
    return false;
  hfta_json_reader reader;
  hfta_json_read(&reader, program->plan_json, strlen(program->plan_json));
  bool ok = hfta_json_next(&reader) == HFTA_JSON_BEGIN_OBJECT, found = false;
  while (ok && hfta_json_next(&reader) == HFTA_JSON_KEY) {
    bool is_tasks = strcmp(reader.string, "tasks") == 0;
    hfta_json_event event = hfta_json_next(&reader);
    if (!is_tasks || event != HFTA_JSON_BEGIN_ARRAY) {
      ok = hfta_json_skip(&reader, event);
      continue;
    }
    while (ok && (event = hfta_json_next(&reader)) == HFTA_JSON_BEGIN_OBJECT)
      ok = read_task(program, &reader, all);
    found = ok && event == HFTA_JSON_END_ARRAY;
  }
  hfta_json_read_end(&reader);
  return found;
}

/// Prints the phase that all tasks of a kind are; adds its limit to `sum`.
static void print_phase(const hfta_program *program, hfta_task_kind kind,
                        const char *name, const double *seconds,
                        const work *all, int64_t steps,
                        const hfta_machine_limits *limits, double sum[2]) {
  double time = 0, flops = 0, bytes = 0;
  // Forward and backward run once a micro-batch.
  bool repeats = kind == HFTA_TASK_FORWARD || kind == HFTA_TASK_BACKWARD;
  double runs = repeats ? (double)program->micro_batches : 1;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    if (program->tasks[i].kind != (uint32_t)kind)
      continue;
    time += seconds[i] / (double)steps;
    flops += runs * all[i].flops;
    bytes += runs * all[i].bytes;
  }
  // There is no such task, or it isn't part of a step.
  if (time <= 0)
    return;
  double arithmetic = flops / limits->flops, memory = bytes / limits->bytes;
  double limit = arithmetic > memory ? arithmetic : memory;
  printf("%-9s %10.3f %9.3f %9.1f %10.3f  %s  %5.2fx\n", name, 1e3 * time,
         1e-9 * flops, 1e-6 * bytes, 1e3 * limit,
         arithmetic > memory ? "flops" : "bytes",
         limit > 0 ? time / limit : 0.0);
  sum[0] += time;
  sum[1] += limit;
}

hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const double *seconds, int64_t steps, int threads,
                              hfta_error *error) {
  static const struct {
    hfta_task_kind kind;
    const char *name;
  } phases[] = {{HFTA_TASK_FORWARD, "forward"},
                {HFTA_TASK_BACKWARD, "backward"},
                {HFTA_TASK_NORM, "norm"},
                {HFTA_TASK_UPDATE, "update"},
                {HFTA_TASK_INFER, "infer"}};
  work *all = calloc((size_t)program->task_count + 1, sizeof(*all));
  if (!all)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a table");
  if (read_work(program, all)) {
    printf("limits: %.1f Gflop/s, %.1f GB/s with %d threads\n"
           "phase             ms     Gflop        MB   least ms  bound by\n",
           1e-9 * limits->flops, 1e-9 * limits->bytes, threads);
    double sum[2] = {0, 0};
    for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); ++i)
      print_phase(program, phases[i].kind, phases[i].name, seconds, all, steps,
                  limits, sum);
    printf("%-9s %10.3f %30.3f         %5.2fx\n", "all", 1e3 * sum[0],
           1e3 * sum[1], sum[1] > 0 ? sum[0] / sum[1] : 0.0);
  }
  free(all);
  return HFTA_OK;
}
