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

/// The seconds of a task's launches, added up over its runs on a pool. The
/// arrays are the caller's.
typedef struct hfta_launch_times {
  /// For each launch, from its begin to its end. Where threads go through
  /// several launches without a barrier, the first one has the time of all.
  double *wall;
  /// For each thread of the pool, and in it for each launch, the seconds in
  /// which the thread computed.
  double *busy;
  /// For each launch the least seconds a copy that it has taken alone, on all
  /// threads: with its operands in the caches as far as they fit, and after
  /// other memory was written; 0: not yet measured. NULL: they aren't measured.
  /// Where they are, the sums above aren't added to, and after a group of
  /// launches each of them runs twice more, on what the group has left: it
  /// updates again what it updates in place, and memory that several launches
  /// use may hold other values than before.
  double *warm, *cold;
  /// Memory that is written to empty the caches before `cold`; at least as
  /// large as these.
  void *evicting;
  uint64_t evicting_bytes;
} hfta_launch_times;

/// A task, and the memory and the copies that it runs with. Everything is
/// borrowed.
typedef struct hfta_task_call {
  const hfta_task *task;
  void *const *segments; ///< for each segment of the program, the base address
                         ///< of the instance to use
  /// For each segment, whether its slabs are numbered by copy; otherwise they
  /// are numbered by position in `copies`.
  const bool *keeps;
  const int32_t *copies; ///< the copies that the task runs for, ascending;
                         ///< NULL: the first `copy_count`
  /// For each of `copies`, the number of its slab in segments whose slabs
  /// aren't numbered by copy; NULL: its position in `copies`.
  const int32_t *slabs;
  int64_t copy_count;
  int64_t micro_batch; ///< number of the micro-batch in the step, for
                       ///< observers; -1: none
  /// The program's segments; NULL if none of them has `places`.
  const hfta_segment *rows;
  /// Where the seconds of the task's launches are added; NULL: nowhere.
  const hfta_launch_times *times;
} hfta_task_call;

/// Returns the number of the copy at a position of the call's list.
int64_t hfta_call_copy(const hfta_task_call *call, int64_t position);

/// Returns whether a launch that runs once per copy runs for the copy at a
/// position of the call's list.
bool hfta_call_runs(const hfta_task_call *call, const hfta_launch *launch,
                    int64_t position);

/// Returns the slab of the copy at a position of the call's list, for segments
/// whose slabs aren't numbered by copy.
int64_t hfta_call_slab(const hfta_task_call *call, int64_t position);

/// Returns the address of a launch's operand number `binding` for the copy at a
/// position of the call's list. An operand that all copies share has the same
/// address for every position.
void *hfta_call_address(const hfta_task_call *call, const hfta_launch *launch,
                        uint32_t binding, int64_t position);

/// Runs a task: every item of each of its kernels for every copy, on the
/// threads of the pool, or on the calling thread if `pool` is NULL. Returns
/// when all is done. The distribution of items over threads never changes a
/// result. HFTA_INTERNAL if a kernel needs more scratch memory than the threads
/// have, or more buffers than HFTA_MAX_BINDINGS.
hfta_status hfta_run_task(hfta_pool *pool, const hfta_task_call *call,
                          hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_LAUNCH_H
