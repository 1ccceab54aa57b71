//===- bench_kernels.c - Times of kernels (bench --kernels) ---------------===//

#include "command_line/bench/bench_kernels.h"

#include "command_line/bench/plan_work.h"

#include <stdlib.h>
#include <string.h>

/// The least bytes that are written to empty the caches, and the least ones for
/// each thread: more than most of them hold.
enum { EVICTED_BYTES = 64 << 20, EVICTED_BYTES_OF_THREAD = 4 << 20 };
/// The least share of the time with which a kernel has a row of its own.
static const double LEAST_SHARE = 0.005;

//===----------------------------------------------------------------------===//
// Memory of times
//===----------------------------------------------------------------------===//

hfta_status hfta_kernel_times_create(const hfta_program *program, int threads,
                                     hfta_kernel_times *out,
                                     hfta_error *error) {
  *out = (hfta_kernel_times){.program = program, .threads = threads};
  // Each launch has a number in `wall`, one in `busy` for each thread, and one
  // each in `warm` and `cold`.
  size_t numbers = (size_t)threads + 3, count = 0;
  for (uint32_t i = 0; i < program->task_count; ++i)
    count += program->tasks[i].launch_count;
  out->tasks = calloc((size_t)program->task_count + 1, sizeof(*out->tasks));
  out->seconds = calloc(count * numbers + 1, sizeof(double));
  if (!out->tasks || !out->seconds) {
    hfta_kernel_times_free(out);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for times");
  }
  double *next = out->seconds;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    out->tasks[i] = (hfta_launch_times){
        .wall = next, .busy = next + 3 * program->tasks[i].launch_count};
    next += program->tasks[i].launch_count * numbers;
  }
  return HFTA_OK;
}

hfta_status hfta_kernel_times_alone(hfta_kernel_times *self,
                                    hfta_error *error) {
  uint64_t bytes = (uint64_t)self->threads * EVICTED_BYTES_OF_THREAD;
  bytes = bytes > EVICTED_BYTES ? bytes : EVICTED_BYTES;
  self->evicting = malloc(bytes);
  if (!self->evicting)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for times");
  for (uint32_t i = 0; i < self->program->task_count; ++i) {
    uint32_t launches = self->program->tasks[i].launch_count;
    hfta_launch_times *times = &self->tasks[i];
    times->warm = times->wall + launches;
    times->cold = times->warm + launches;
    times->evicting = self->evicting;
    times->evicting_bytes = bytes;
  }
  return HFTA_OK;
}

void hfta_kernel_times_free(hfta_kernel_times *self) {
  free(self->tasks);
  free(self->seconds);
  free(self->evicting);
  *self = (hfta_kernel_times){.tasks = NULL};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// A kernel in a part of a step: the sums over its launches, for one step.
typedef struct row {
  const hfta_task *task; ///< any task of the part
  const char *kernel;
  double launches;   ///< each run of a task counts
  double wall;       ///< seconds from begin to end
  double busy;       ///< seconds of all threads
  double warm, cold; ///< seconds alone; 0: not measured
  double flops, bytes;
} row;

/// The rows of a table, and what they are made of.
typedef struct rows {
  const hfta_kernel_times *times;
  const hfta_task_time *tasks;
  int64_t steps;
  row *all;
  uint32_t count;
} rows;

static row *find_row(rows *self, const hfta_task *task, const char *kernel) {
  for (uint32_t i = 0; i < self->count; ++i)
    if (hfta_have_one_part(self->all[i].task, task) &&
        strcmp(self->all[i].kernel, kernel) == 0)
      return &self->all[i];
  self->all[self->count] = (row){.task = task, .kernel = kernel};
  return &self->all[self->count++];
}

/// Returns the seconds in which all threads have computed a launch.
static double busy_of(const rows *self, uint32_t task, uint32_t launch) {
  uint32_t launches = self->times->program->tasks[task].launch_count;
  double sum = 0;
  for (int thread = 0; thread < self->times->threads; ++thread)
    sum += self->times->tasks[task].busy[(uint32_t)thread * launches + launch];
  return sum;
}

/// Adds launches `begin` to `end` - 1 of a task, which run without a barrier in
/// between: each has a part of their time, by what threads computed for it.
static void add_group(rows *self, uint32_t number, const hfta_task_work *work,
                      uint32_t begin, uint32_t end) {
  const hfta_program *program = self->times->program;
  const hfta_task *task = &program->tasks[number];
  const hfta_launch_times *times = &self->times->tasks[number];
  double steps = (double)self->steps, busy = 0;
  for (uint32_t i = begin; i < end; ++i)
    busy += busy_of(self, number, i);
  double runs = (double)self->tasks[number].runs / steps;
  double copies = (double)self->tasks[number].copies / steps;
  // The plan counts the work for all copies, but perhaps only some of them have
  // run in these steps.
  double turns = copies / (double)program->copies;
  for (uint32_t i = begin; i < end && busy > 0; ++i) {
    row *into = find_row(self, task, task->launches[i].name);
    double own = busy_of(self, number, i);
    into->launches += runs;
    into->wall += times->wall[begin] * own / busy / steps;
    into->busy += own / steps;
    into->warm += times->warm ? copies * times->warm[i] : 0;
    into->cold += times->cold ? copies * times->cold[i] : 0;
    if (work && work->launch_flops.count > 0) {
      into->flops += turns * work->launch_flops.numbers[i];
      into->bytes += turns * work->launch_bytes.numbers[i];
    }
  }
}

static int compare_rows(const void *a, const void *b) {
  double left = ((const row *)a)->wall, right = ((const row *)b)->wall;
  return (left < right) - (left > right);
}

/// Makes the rows, which the caller frees.
static hfta_status make_rows(rows *self, hfta_error *error) {
  const hfta_program *program = self->times->program;
  hfta_task_work *work;
  hfta_status status = hfta_plan_read_work(program, &work, error);
  if (status != HFTA_OK)
    return status;
  size_t most = 1;
  for (uint32_t i = 0; i < program->task_count; ++i)
    most += program->tasks[i].launch_count;
  self->all = calloc(most, sizeof(*self->all));
  for (uint32_t i = 0; self->all && i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    for (uint32_t begin = 0, end; begin < task->launch_count; begin = end) {
      // Only the first launch of a group has a time.
      for (end = begin + 1;
           end < task->launch_count && self->times->tasks[i].wall[end] <= 0;)
        ++end;
      add_group(self, i, work ? &work[i] : NULL, begin, end);
    }
  }
  hfta_plan_work_free(program, work);
  if (!self->all)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a table");
  qsort(self->all, self->count, sizeof(*self->all), compare_rows);
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void add_row(row *sum, const row *other) {
  sum->launches += other->launches;
  sum->wall += other->wall;
  sum->busy += other->busy;
  sum->warm += other->warm;
  sum->cold += other->cold;
  sum->flops += other->flops;
  sum->bytes += other->bytes;
}

/// Returns a kernel's name without what all of them begin with.
static const char *short_name(const char *kernel) {
  const char *slash = strrchr(kernel, '/');
  return slash ? slash + 1 : kernel;
}

static void print_row(const rows *self, const hfta_machine_limits *limits,
                      const row *of, const char *name, double all) {
  double arithmetic = of->flops / limits->flops;
  double memory = of->bytes / limits->bytes;
  double least = arithmetic > memory ? arithmetic : memory;
  double wall = of->wall > 0 ? of->wall : 1e-12;
  printf("%-34s %4.0f %9.3f %5.1f%% %8.1f %7.1f %9.3f  %s %6.2fx %5.0f%% %9.3f "
         "%9.3f\n",
         name, of->launches, 1e3 * of->wall,
         all > 0 ? 100 * of->wall / all : 0.0, 1e-9 * of->flops / wall,
         1e-9 * of->bytes / wall, 1e3 * least,
         arithmetic > memory ? "flops" : "bytes",
         least > 0 ? of->wall / least : 0.0,
         100 * of->busy / (wall * self->times->threads), 1e3 * of->warm,
         1e3 * of->cold);
}

static void print_rows(const rows *self, const hfta_machine_limits *limits) {
  row all = {.kernel = ""}, others = {.kernel = ""};
  for (uint32_t i = 0; i < self->count; ++i)
    add_row(&all, &self->all[i]);
  printf("%-34s %4s %9s %6s %8s %7s %9s  %-5s %7s %6s %9s %9s\n", "kernel",
         "runs", "ms", "share", "Gflop/s", "GB/s", "least ms", "bound", "",
         "busy", "warm ms", "cold ms");
  for (uint32_t i = 0; i < self->count; ++i) {
    const row *of = &self->all[i];
    if (of->wall < LEAST_SHARE * all.wall) {
      add_row(&others, of);
      continue;
    }
    char name[256];
    snprintf(name, sizeof(name), "%.*s %s", (int)hfta_part_length(of->task),
             of->task->name, short_name(of->kernel));
    print_row(self, limits, of, name, all.wall);
  }
  if (others.launches > 0)
    print_row(self, limits, &others, "others", all.wall);
  print_row(self, limits, &all, "all", all.wall);
}

hfta_status hfta_print_kernels(const hfta_kernel_times *self,
                               const hfta_machine_limits *limits,
                               const hfta_task_time *tasks, int64_t steps,
                               hfta_error *error) {
  rows table = {.times = self, .tasks = tasks, .steps = steps};
  hfta_status status = make_rows(&table, error);
  if (status == HFTA_OK && table.count > 0)
    print_rows(&table, limits);
  free(table.all);
  return status;
}

hfta_status hfta_write_kernels(const hfta_kernel_times *self,
                               const hfta_task_time *tasks, int64_t steps,
                               hfta_json_writer *writer, hfta_error *error) {
  rows table = {.times = self, .tasks = tasks, .steps = steps};
  hfta_status status = make_rows(&table, error);
  hfta_json_key(writer, "kernels");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; status == HFTA_OK && i < table.count; ++i) {
    const row *of = &table.all[i];
    char part[64];
    snprintf(part, sizeof(part), "%.*s", (int)hfta_part_length(of->task),
             of->task->name);
    const struct {
      const char *key;
      double value;
    } numbers[] = {{"launches", of->launches},   {"seconds", of->wall},
                   {"thread_seconds", of->busy}, {"warm_seconds", of->warm},
                   {"cold_seconds", of->cold},   {"flops", of->flops},
                   {"bytes", of->bytes}};
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "part", part);
    hfta_json_put_string(writer, "kernel", of->kernel);
    for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); ++n) {
      hfta_json_key(writer, numbers[n].key);
      hfta_json_number(writer, numbers[n].value, HFTA_F64);
    }
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
  free(table.all);
  return status;
}
