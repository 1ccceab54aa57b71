//===- run.h - Calls of schedules ---------------------------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_RUN_H
#define HFTA_SRC_SCHEDULE_RUN_H

#include "instance/instance_impl.h"

/// A call of a schedule: the arguments with which an instance or worker runs
/// it.
typedef struct hfta_schedule_call {
  const char *name;          ///< name of the schedule
  const void *const *inputs; ///< one pointer per data field, or one per model
                             ///< input for `infer`
  int64_t micro_batches; ///< number of the step's micro-batches, fewer for a
                         ///< partial batch
  const int32_t *copies; ///< the copies that take part; NULL: those of the
                         ///< instance's current turn
  int64_t first; ///< position of the first of `copies` among the live copies
  int64_t copy_count;
  uint64_t queues;     ///< the set of queues to wait for, as in the device's
                       ///< `wait_for`; 0: all
  bool is_posted;      ///< the call returns without waiting for the device
  char *const *images; ///< the host's images to use, one per segment; NULL: the
                       ///< worker's own
  bool is_ahead;       ///< its FETCHes are for a later call (spill.h)
} hfta_schedule_call;

/// Issues all commands of a schedule to the device and, unless the call is
/// posted, waits until they are done. HFTA_USAGE if the program has no such
/// schedule.
hfta_status hfta_worker_run(hfta_worker *self, const hfta_schedule_call *call);

/// Runs a schedule on all workers at once and waits for them. HFTA_USAGE if the
/// program has no such schedule.
hfta_status hfta_instance_run(hfta_instance *instance,
                              const hfta_schedule_call *call);

/// Runs a schedule once for each turn's copies, one turn after the other.
hfta_status hfta_instance_run_turns(hfta_instance *instance,
                                    const hfta_schedule_call *call);

#endif // HFTA_SRC_SCHEDULE_RUN_H
