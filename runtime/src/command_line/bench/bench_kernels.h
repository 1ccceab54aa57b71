//===- bench_kernels.h - Times of kernels (bench --kernels) -------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_BENCH_BENCH_KERNELS_H
#define HFTA_SRC_COMMAND_LINE_BENCH_BENCH_KERNELS_H

#include "command_line/bench/bench_phases.h"

/// The number of steps in which each launch is also measured alone.
#define HFTA_ALONE_STEPS 3

/// The times of all launches of a program.
typedef struct hfta_kernel_times {
  const hfta_program *program;
  int threads;
  hfta_launch_times *tasks; ///< one per task, for hfta_observer.launches
  double *seconds;          ///< the arrays of all tasks
  void *evicting;
} hfta_kernel_times;

/// Allocates times, all 0, for a pool of `threads` threads. HFTA_UNSUPPORTED if
/// memory runs out.
hfta_status hfta_kernel_times_create(const hfta_program *program, int threads,
                                     hfta_kernel_times *out, hfta_error *error);

/// From now on, each launch is measured alone, too; its other times stay as
/// they are. HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_kernel_times_alone(hfta_kernel_times *self, hfta_error *error);

/// Frees the times. A zeroed struct is allowed.
void hfta_kernel_times_free(hfta_kernel_times *self);

/// Prints a table with a row for each kernel and part of a step, the one that
/// takes longest first; those that take less than a half percent of the time
/// are one row. `tasks` has one entry per task, for `steps` steps.
/// HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_print_kernels(const hfta_kernel_times *self,
                               const hfta_machine_limits *limits,
                               const hfta_task_time *tasks, int64_t steps,
                               hfta_error *error);

/// Writes the key "kernels": a list with the same rows, with all of them.
hfta_status hfta_write_kernels(const hfta_kernel_times *self,
                               const hfta_task_time *tasks, int64_t steps,
                               hfta_json_writer *writer, hfta_error *error);

#endif // HFTA_SRC_COMMAND_LINE_BENCH_BENCH_KERNELS_H
