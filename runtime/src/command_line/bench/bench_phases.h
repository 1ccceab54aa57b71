//===- bench_phases.h - Times of a step's phases (bench --phases) --*- C
//-*-===//

#ifndef HFTA_SRC_COMMAND_LINE_BENCH_BENCH_PHASES_H
#define HFTA_SRC_COMMAND_LINE_BENCH_BENCH_PHASES_H

#include "command_line/bench/machine_limits.h"
#include "hfta/json.h"
#include "instance/instance_impl.h"

/// The measured time of a task, over all timed steps.
typedef struct hfta_task_time {
  double seconds;
  int64_t runs;   ///< the number of runs; each turn of copies is a run
  int64_t copies; ///< the number of copies, added up over all runs
} hfta_task_time;

/// Writes the keys "model" (the digest by which pipeline plans name a model)
/// and "cuts" (for each cut the list of its values' names). They tell for which
/// model and cuts the times are valid.
void hfta_write_cuts(const hfta_program *program, hfta_json_writer *writer);

/// Writes the key "tasks": the tasks that ran, with their runs, copies and
/// seconds per step. `times` has one entry per task of the program.
void hfta_write_task_times(const hfta_program *program,
                           const hfta_task_time *times, int64_t steps,
                           hfta_json_writer *writer);

/// Prints a table with a row for each phase of a step, a phase being all tasks
/// of one part such as forward: its time, the flops and bytes of its kernels by
/// the compiler's plan, and the least time that these need by the processor's
/// limits. The last is left out if `limits` are 0. `times` has one entry per
/// task, for `steps` steps on `threads` threads. Prints nothing if the program
/// has no plan. HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const hfta_task_time *times, int64_t steps,
                              int threads, hfta_error *error);

#endif // HFTA_SRC_COMMAND_LINE_BENCH_BENCH_PHASES_H
