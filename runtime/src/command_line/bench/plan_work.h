//===- plan_work.h - The work of tasks by the compiler's plan -----*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_BENCH_PLAN_WORK_H
#define HFTA_SRC_COMMAND_LINE_BENCH_PLAN_WORK_H

#include "hfta/json.h"
#include "hfta/program.h"

/// Numbers of a list.
typedef struct hfta_work_list {
  double *numbers; ///< owned
  uint32_t count;
} hfta_work_list;

/// The work of one run of a task for all copies.
typedef struct hfta_task_work {
  double flops;
  double bytes; ///< read and written
  /// The flops, and the bytes read and written, of each launch of the task, in
  /// the order of hfta_task.launches; empty lists if the plan has another
  /// number of launches than the program.
  hfta_work_list launch_flops, launch_bytes;
} hfta_task_work;

/// Starts to read the plan, up to the value of a key. Returns the event that
/// begins the value, or HFTA_JSON_ERROR if there is no such key. The reader
/// must be released in either case.
hfta_json_event hfta_plan_find(const hfta_program *program, const char *key,
                               hfta_json_reader *reader);

/// Reads the work of all tasks from the plan into an array with an entry for
/// each task, which the caller frees by hfta_plan_work_free. `*out` is NULL if
/// the plan doesn't have it, or if there is no memory for a list of launches.
/// HFTA_UNSUPPORTED if there is no memory for the array.
hfta_status hfta_plan_read_work(const hfta_program *program,
                                hfta_task_work **out, hfta_error *error);

/// Frees what hfta_plan_read_work has returned. NULL is allowed.
void hfta_plan_work_free(const hfta_program *program, hfta_task_work *all);

/// Returns the length of the name of a task's part: forward.0 is of part
/// forward.
size_t hfta_part_length(const hfta_task *task);

/// Returns whether two tasks are of one part.
bool hfta_have_one_part(const hfta_task *a, const hfta_task *b);

#endif // HFTA_SRC_COMMAND_LINE_BENCH_PLAN_WORK_H
