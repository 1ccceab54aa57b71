//===- worker.h - One replica of a stage, within an instance ----*- C -*-===//
//
// A worker has memory for the segments that its schedules use, a share of a
// step's micro-batches, and queues of the device to which it gives its
// commands. Where a job has one stage an instance has one worker, which does
// the share of all replicas that the rank has.
//
// Threads: between two calls of the instance the host may use a worker; a call
// runs on one thread.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_WORKER_H
#define HFTA_SRC_SCHEDULE_WORKER_H

#include "hfta/device.h"
#include "schedule/ahead.h"
#include "schedule/batches.h"
#include "schedule/broadcasts.h"
#include "schedule/host_copies.h"
#include "schedule/messages.h"
#include "schedule/share.h"
#include "schedule/spill.h"
#include "schedule/sums.h"
#include "schedule/turns.h"
#include "schedule/workload.h"

/// The instances of one segment.
typedef struct hfta_segment_memory {
  void **bases;       ///< `count` addresses; NULL for an instance that isn't
                      ///< resident and has no place
  char *host;         ///< the host's image of all instances, or NULL
  uint64_t bytes;     ///< size of each instance
  uint32_t count;     ///< 0: scratch, which the pool owns, or not needed
  uint32_t read_only; ///< `bases` aren't its own: they point into the program's
                      ///< image or the arena
} hfta_segment_memory;

typedef struct hfta_worker {
  const hfta_instance *instance; ///< the instance whose copies and steps it
                                 ///< runs
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< the workers that share the groups
  hfta_communicator *everyone;     ///< all workers, NULL if there is one stage
  hfta_share share;
  hfta_sums sums_of_groups;
  hfta_broadcasts broadcasts;
  hfta_messages messages; ///< to and from other stages
  hfta_device *device;
  hfta_segment_memory *memory;  ///< one per segment
  bool lacks_memory;            ///< the device had no room for a segment
  hfta_host_copies host_copies; ///< used if the device has no room for all
                                ///< copies
  hfta_spill spill;
  void **call_bases; ///< a running task's segments, one address each
  bool *keeps;       ///< one per segment, as the running schedule's `keeps`
  int32_t *chosen;   ///< room for a choice of the live copies, and for their
                     ///< positions
  hfta_turns *turns; ///< one per schedule
  hfta_batches batches;
  hfta_ahead *ahead; ///< NULL: no step has been posted
  hfta_error error;  ///< its own last failure
} hfta_worker;

/// The arguments of a schedule's run.
typedef struct hfta_schedule_call {
  const char *name;
  const void *const *inputs; ///< one per data field, or one per model input
  int64_t micro_batches;
  const int32_t *copies; ///< the copies that take part; NULL: all live ones
  int64_t first;         ///< position of the first one among the live copies
  int64_t copy_count;
  uint64_t queues;     ///< queues to wait for, as in the device's `wait_for`;
                       ///< 0: all
  bool is_posted;      ///< the call doesn't wait
  char *const *images; ///< the host's images of segments to use, one per
                       ///< segment; NULL: the worker's own
  bool is_ahead;       ///< its FETCHes are for a later call
} hfta_schedule_call;

/// Opens the instance's worker number `index`; its memory is zeros.
/// hfta_worker_close frees what it has, also after a failure.
hfta_status hfta_worker_open(hfta_worker *self, const hfta_instance *instance,
                             uint32_t index);

/// Opens the worker's device.
hfta_status hfta_worker_open_device(hfta_worker *self, const char *text,
                                    const hfta_device_options *options);

/// Allocates segments, and the memory that the device itself needs, for as many
/// copies as its workload says. If `lacks_memory` reports that there is no
/// room, some segments may be allocated.
hfta_status hfta_worker_allocate_segments(hfta_worker *self);
void hfta_worker_release_segments(hfta_worker *self);

/// Allocates memory, a store and messages, after the device was opened.
hfta_status hfta_worker_allocate(hfta_worker *self,
                                 const hfta_store_options *store);

/// Closes a worker. `keeps_memory`: segments and arena stay allocated until the
/// process ends, as other ranks may still be sending to them.
void hfta_worker_close(hfta_worker *self, bool keeps_memory);

/// Sets the segments' contents from before `initialize` runs; the commands go
/// to queue 0 and aren't waited for. `is_new`: nothing was written to them yet.
void hfta_worker_reset(hfta_worker *self, bool is_new);

/// Begins the search for the width of turns again, for the live copies.
void hfta_worker_begin_turns(hfta_worker *self);

hfta_status hfta_worker_clear_gradients(hfta_worker *self);

/// Gives the device all commands of a schedule and waits until they are done.
/// HFTA_USAGE if the program has no such schedule.
hfta_status hfta_worker_run(hfta_worker *self, const hfta_schedule_call *call);

/// Returns the worker's number among those of all stages.
int64_t hfta_worker_number(const hfta_worker *self);

/// Returns the number, among all workers, from which the peers of a post of the
/// worker's device are counted; 0 if there is one stage.
int64_t hfta_worker_first_peer(const hfta_worker *self, const hfta_post *post);

/// Returns the instance of a segment, modulo their number, for the worker's
/// micro-batch at `place` among its own, `number` in the step.
int64_t hfta_worker_instance(const hfta_worker *self, uint32_t segment,
                             int64_t place, int64_t number);

/// Returns the address of a copy's tensor in the first instance of its segment,
/// which must be resident on the worker.
char *hfta_worker_address(const hfta_worker *self, uint32_t tensor,
                          int64_t copy);

/// Returns the address of a copy's scalar in the host's image of an instance of
/// its segment. NULL if there is none, or the role is absent (UINT32_MAX).
char *hfta_worker_image(const hfta_worker *self, uint32_t tensor, int64_t copy,
                        int64_t number);

#endif // HFTA_SRC_SCHEDULE_WORKER_H
