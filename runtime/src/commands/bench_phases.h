//===- bench_phases.h - A step's phases beside their limits -----*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_BENCH_PHASES_H
#define HFTA_SRC_COMMANDS_BENCH_PHASES_H

#include "commands/machine_limits.h"
#include "hfta/json.h"
#include "schedule/instance_impl.h"

/// The time of a task in all timed steps.
typedef struct hfta_task_time {
  double seconds;
  int64_t runs;   ///< each turn of copies counts as a run
  int64_t copies; ///< sum over all runs
} hfta_task_time;

/// Writes the keys `model`, the digest by which plans name a model, and `cuts`,
/// a list of lists of values' names. They say which model and which cuts the
/// times are of.
void hfta_write_cuts(const hfta_program *program, hfta_json_writer *writer);

/// Writes the key `tasks`: a list of the tasks that ran, with their runs and
/// seconds per step. `times` has one entry per task.
void hfta_write_task_times(const hfta_program *program,
                           const hfta_task_time *times, int64_t steps,
                           hfta_json_writer *writer);

/// Prints a table of the phases of a step: the time, the flops and the bytes of
/// kernels' operands as the plan counts them, and the least time that these
/// need by the limits of the processor. `times` has one entry per task, for
/// `steps` steps.
hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const hfta_task_time *times, int64_t steps,
                              int threads, hfta_error *error);

#endif // HFTA_SRC_COMMANDS_BENCH_PHASES_H
