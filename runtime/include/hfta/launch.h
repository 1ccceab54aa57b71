//===- launch.h - Tasks on a pool of threads --------------------*- C -*-===//

#ifndef HFTA_LAUNCH_H
#define HFTA_LAUNCH_H

#include "hfta/pool.h"
#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A task and the memory and copies that it runs on. Everything is borrowed.
typedef struct hfta_task_call {
  const hfta_task *task;
  void *const *segments; ///< for each segment of the program, the base address
                         ///< of the instance that is used
  const bool *keeps;     ///< for each segment: whether its slabs are numbered
                         ///< as copies are; otherwise as positions in `copies`
  const int32_t *copies; ///< the copies that the task runs for, ascending;
                         ///< NULL: the first `copy_count`
  /// For each of `copies`, the slab that it has in segments whose slabs aren't
  /// numbered as copies are; NULL: its position.
  const int32_t *slabs;
  int64_t copy_count;
  int64_t micro_batch; ///< number within the step, for observers; -1: none
} hfta_task_call;

/// Returns the copy at a position of the call's list.
int64_t hfta_call_copy(const hfta_task_call *call, int64_t position);

/// Returns the number of the copy's slab in segments whose slabs aren't
/// numbered as copies are.
int64_t hfta_call_slab(const hfta_task_call *call, int64_t position);

/// Returns the address of a launch's operand for the copy at a position of the
/// list; an operand that all copies share is the same for every position.
void *hfta_call_address(const hfta_task_call *call, const hfta_launch *launch,
                        uint32_t binding, int64_t position);

/// Runs every (copy, item) of the task's kernels on the pool, or on the calling
/// thread if the pool is NULL, and returns when all are done. The distribution
/// of the work over threads never changes a result. Fails with HFTA_INTERNAL if
/// a kernel needs more scratch or buffers than there are.
hfta_status hfta_run_task(hfta_pool *pool, const hfta_task_call *call,
                          hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_LAUNCH_H
