//===- bench_phases.h - A step's phases beside their limits -----*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_BENCH_PHASES_H
#define HFTA_SRC_COMMANDS_BENCH_PHASES_H

#include "commands/machine_limits.h"
#include "hfta/json.h"
#include "schedule/instance_impl.h"

/// What a task took in all timed steps.
typedef struct hfta_task_time {
  double seconds;
  int64_t runs;   ///< copies that take turns are several
  int64_t copies; ///< of all runs together
} hfta_task_time;

/// Writes the keys `model`, the digest that plans name, and `cuts`, a list of
/// lists of values' names: what the times are of, by the program's plan.
void hfta_write_cuts(const hfta_program *program, hfta_json_writer *writer);

/// Writes the key `tasks`: a list of those that ran, with runs and seconds of a
/// step. `times` has one a task.
void hfta_write_task_times(const hfta_program *program,
                           const hfta_task_time *times, int64_t steps,
                           hfta_json_writer *writer);

/// Prints a table of the phases of a step: time, what the plan counts as flops
/// and bytes of kernels' operands, and the least time that these need by the
/// limits of the processor. `times` has one a task, of `steps` steps.
hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const hfta_task_time *times, int64_t steps,
                              int threads, hfta_error *error);

#endif // HFTA_SRC_COMMANDS_BENCH_PHASES_H
