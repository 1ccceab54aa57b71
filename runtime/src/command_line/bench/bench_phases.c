//===- bench_phases.c - Times of a step's phases (bench --phases) ---------===//

#include "command_line/bench/bench_phases.h"

#include "command_line/bench/plan_work.h"

#include <stdlib.h>
#include <string.h>

/// The arguments of print_phase, and its sums.
typedef struct phases {
  const hfta_program *program;
  const char *schedule; ///< the schedule that makes up a step
  const hfta_machine_limits *limits;
  const hfta_task_time *times;
  const hfta_task_work *all;
  int64_t steps;
  double time, limit; ///< sums over the printed phases, in seconds
} phases;

/// Prints the row of the phase that consists of all tasks of a part, and adds
/// its times to the sums. `first` is any task of the part.
static void print_phase(phases *self, const hfta_task *first) {
  const hfta_program *program = self->program;
  double time = 0, flops = 0, bytes = 0;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    if (!hfta_have_one_part(first, &program->tasks[i]))
      continue;
    // The plan counts the work for all copies, but perhaps only some of them
    // have run in these steps.
    double runs =
        (double)self->times[i].copies / (double)(program->copies * self->steps);
    time += self->times[i].seconds / (double)self->steps;
    flops += runs * self->all[i].flops;
    bytes += runs * self->all[i].bytes;
  }
  if (time <= 0)
    return;
  if (self->limits->flops <= 0) {
    printf("%-17.*s %10.3f %9.3f %9.1f\n", (int)hfta_part_length(first),
           first->name, 1e3 * time, 1e-9 * flops, 1e-6 * bytes);
    self->time += time;
    return;
  }
  double arithmetic = flops / self->limits->flops;
  double memory = bytes / self->limits->bytes;
  double limit = arithmetic > memory ? arithmetic : memory;
  printf("%-17.*s %10.3f %9.3f %9.1f %10.3f  %s  %5.2fx\n",
         (int)hfta_part_length(first), first->name, 1e3 * time, 1e-9 * flops,
         1e-6 * bytes, 1e3 * limit, arithmetic > memory ? "flops" : "bytes",
         limit > 0 ? time / limit : 0.0);
  self->time += time;
  self->limit += limit;
}

/// Finds the first task of each part in the order of the schedule. Returns the
/// number of parts. `found` has room for as many tasks as the program has.
static uint32_t find_parts(const phases *self, const hfta_task **found) {
  const hfta_program *program = self->program;
  uint32_t count = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s) {
    const hfta_schedule *schedule = &program->schedules[s];
    if (strcmp(schedule->name, self->schedule) != 0)
      continue;
    for (uint32_t i = 0; i < schedule->command_count; ++i) {
      if (schedule->commands[i].kind != HFTA_COMMAND_RUN)
        continue;
      const hfta_task *task = &program->tasks[schedule->commands[i].subject];
      bool is_new = true;
      for (uint32_t j = 0; j < count && is_new; ++j)
        is_new = !hfta_have_one_part(task, found[j]);
      if (is_new)
        found[count++] = task;
    }
  }
  return count;
}

static hfta_status print_all(phases *self, hfta_error *error) {
  const hfta_task **parts =
      calloc((size_t)self->program->task_count + 1, sizeof(*parts));
  if (!parts)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a table");
  uint32_t count = find_parts(self, parts);
  for (uint32_t i = 0; i < count; ++i)
    print_phase(self, parts[i]);
  free(parts);
  return HFTA_OK;
}

hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const hfta_task_time *times, int64_t steps,
                              int threads, hfta_error *error) {
  hfta_task_work *all;
  hfta_status status = hfta_plan_read_work(program, &all, error);
  if (all) {
    bool has_limits = limits->flops > 0;
    if (has_limits)
      printf("limits: %.1f Gflop/s, %.1f GB/s with %d threads\n",
             1e-9 * limits->flops, 1e-9 * limits->bytes, threads);
    printf("phase                     ms     Gflop        MB%s\n",
           has_limits ? "   least ms  bound by" : "");
    phases self = {.program = program,
                   .schedule = hfta_program_trains(program) ? "step" : "infer",
                   .limits = limits,
                   .times = times,
                   .all = all,
                   .steps = steps};
    status = print_all(&self, error);
    if (has_limits)
      printf("%-17s %10.3f %30.3f         %5.2fx\n", "all", 1e3 * self.time,
             1e3 * self.limit, self.limit > 0 ? self.time / self.limit : 0.0);
    else
      printf("%-17s %10.3f\n", "all", 1e3 * self.time);
  }
  hfta_plan_work_free(program, all);
  return status;
}

void hfta_write_cuts(const hfta_program *program, hfta_json_writer *writer) {
  hfta_json_reader reader;
  bool is_known = hfta_plan_find(program, "model", &reader) == HFTA_JSON_STRING;
  hfta_json_put_string(writer, "model", is_known ? reader.string : "");
  hfta_json_read_end(&reader);
  hfta_json_key(writer, "cuts");
  hfta_json_begin_array(writer);
  bool is_list =
      hfta_plan_find(program, "cuts", &reader) == HFTA_JSON_BEGIN_ARRAY;
  while (is_list && hfta_json_next(&reader) == HFTA_JSON_BEGIN_ARRAY) {
    hfta_json_begin_array(writer);
    while (hfta_json_next(&reader) == HFTA_JSON_STRING)
      hfta_json_string(writer, reader.string);
    hfta_json_end_array(writer);
  }
  hfta_json_end_array(writer);
  hfta_json_read_end(&reader);
}

void hfta_write_task_times(const hfta_program *program,
                           const hfta_task_time *times, int64_t steps,
                           hfta_json_writer *writer) {
  hfta_json_key(writer, "tasks");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->task_count; ++i) {
    if (times[i].runs == 0)
      continue;
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", program->tasks[i].name);
    hfta_json_key(writer, "runs");
    hfta_json_number(writer, (double)times[i].runs / (double)steps, HFTA_F64);
    hfta_json_key(writer, "copies");
    hfta_json_number(writer, (double)times[i].copies / (double)steps, HFTA_F64);
    hfta_json_key(writer, "seconds");
    hfta_json_number(writer, times[i].seconds / (double)steps, HFTA_F64);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}
