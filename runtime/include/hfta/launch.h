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

/// A task and what it runs on. All is borrowed.
typedef struct hfta_task_call {
  const hfta_task *task;
  void *const *segments; ///< the base address of the instance that is used, one
                         ///< a segment of the program
  const bool *keeps;     ///< one a segment: slabs are numbered as copies are;
                         ///< otherwise as `copies` is
  const int32_t *copies; ///< ascending: those that the task runs for; NULL: the
                         ///< first `copy_count`
  /// Of those in `copies`, the slab that each has where slabs aren't numbered
  /// as copies are; NULL: its position.
  const int32_t *slabs;
  int64_t copy_count;
  int64_t micro_batch; ///< of the step, for those who observe; -1: of none
} hfta_task_call;

/// The copy at a position of the call's list.
int64_t hfta_call_copy(const hfta_task_call *call, int64_t position);

/// The number of the slab that it has where slabs aren't numbered as copies
/// are.
int64_t hfta_call_slab(const hfta_task_call *call, int64_t position);

/// Where an operand of a launch lies, for the copy at a position of the list;
/// of one that isn't a copy's, for the first position.
void *hfta_call_address(const hfta_task_call *call, const hfta_launch *launch,
                        uint32_t binding, int64_t position);

/// Runs every (copy, item) of the task's kernels on the pool, or on the calling
/// thread without one (NULL), and returns when all are done. Which thread runs
/// which piece never changes a result. Fails with HFTA_INTERNAL if a kernel
/// asks for more scratch or buffers than there are.
hfta_status hfta_run_task(hfta_pool *pool, const hfta_task_call *call,
                          hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_LAUNCH_H
