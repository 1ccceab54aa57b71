//===- worker.h - One replica of a stage, within an instance ----*- C -*-===//
//
// A worker has memory for what its schedules touch, a share of a step's
// micro-batches, and queues of the device to which it gives its commands. Where
// a job has one stage an instance has one worker, which does the share of all
// replicas that the rank has.
//
// Threads: between two calls of the instance a worker is the host's; a call is
// one thread's.
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
  void **bases;       ///< `count` addresses; of what isn't resident NULL while
                      ///< it has no place
  char *host;         ///< the host's image of all instances, or NULL
  uint64_t bytes;     ///< of each
  uint32_t count;     ///< 0: scratch, which the pool owns, or not needed
  uint32_t read_only; ///< `bases` aren't its own: they lead into the program's
                      ///< image or the arena
} hfta_segment_memory;

typedef struct hfta_worker {
  const hfta_instance *instance; ///< whose copies and steps it runs
  const hfta_program *program;
  hfta_workload workload;
  hfta_communicator *communicator; ///< of those that share the groups with it
  hfta_communicator *everyone; ///< all workers, NULL where there is one stage
  hfta_share share;
  hfta_sums sums_of_groups;
  hfta_broadcasts broadcasts;
  hfta_messages messages; ///< to and from other stages
  hfta_device *device;
  hfta_segment_memory *memory;  ///< one a segment
  bool lacks_memory;            ///< the device has had no room for a segment
  hfta_host_copies host_copies; ///< where it has none for all copies
  hfta_spill spill;
  void **call_bases; ///< what a running task gets, one a segment
  bool *keeps;       ///< of the running schedule, one a segment
  int32_t *chosen;   ///< room for some of the copies that run, and
                     ///< as many places of theirs
  hfta_turns *turns; ///< one a schedule
  hfta_batches batches;
  hfta_ahead *ahead; ///< NULL: no step has been posted
  hfta_error error;  ///< of its own last failure
} hfta_worker;

/// What a schedule is run for.
typedef struct hfta_schedule_call {
  const char *name;
  const void *const *inputs; ///< one a data field, or one a model input
  int64_t micro_batches;
  const int32_t *copies; ///< that take part; NULL: all that run
  int64_t first;         ///< place of the first one among those that run
  int64_t copy_count;
  uint64_t queues;     ///< that are waited for, as by the device; 0: all
  bool is_posted;      ///< nothing is waited for
  char *const *images; ///< where the host's images of segments lie for it, one
                       ///< a segment; NULL: where the worker has them
  bool is_ahead;       ///< what it fetches is for a call that is to follow
} hfta_schedule_call;

/// As the instance's worker number `index`; its memory is zeros. After a
/// failure too, hfta_worker_close frees what it has.
hfta_status hfta_worker_open(hfta_worker *self, const hfta_instance *instance,
                             uint32_t index);

/// Opens the worker's device.
hfta_status hfta_worker_open_device(hfta_worker *self, const char *text,
                                    const hfta_device_options *options);

/// Segments for as many copies as its workload says. Where `lacks_memory` says
/// that there is no room, some may be there.
hfta_status hfta_worker_allocate_segments(hfta_worker *self);
void hfta_worker_release_segments(hfta_worker *self);

/// Memory, a store and messages, after the device is there.
hfta_status hfta_worker_allocate(hfta_worker *self,
                                 const hfta_store_options *store);

void hfta_worker_close(hfta_worker *self);

/// What segments hold at first, before `initialize` runs: given to queue 0, not
/// waited for. `is_new`: nothing has been written to them yet.
void hfta_worker_reset(hfta_worker *self, bool is_new);

/// The search for the width of turns begins anew, for the copies that run.
void hfta_worker_begin_turns(hfta_worker *self);

hfta_status hfta_worker_clear_gradients(hfta_worker *self);

/// Gives the device all commands of a schedule and waits until they are done.
/// HFTA_USAGE if the program has no such schedule.
hfta_status hfta_worker_run(hfta_worker *self, const hfta_schedule_call *call);

/// The worker's number among those of all stages.
int64_t hfta_worker_number(const hfta_worker *self);

/// What the peers of a post that the worker's device was given count from,
/// among all workers; 0 where there is one stage.
int64_t hfta_worker_first_peer(const hfta_worker *self, const hfta_post *post);

/// Which instance of a segment, modulo how many there are, serves the worker's
/// micro-batch at `place` among its own, `number` in the step.
int64_t hfta_worker_instance(const hfta_worker *self, uint32_t segment,
                             int64_t place, int64_t number);

/// The address of a copy's tensor in the first instance of its segment, for
/// which the worker has memory that stays.
char *hfta_worker_address(const hfta_worker *self, uint32_t tensor,
                          int64_t copy);

/// The address of a copy's scalar in the host's image of an instance of its
/// segment. NULL if there is none, or the role is absent (UINT32_MAX).
char *hfta_worker_image(const hfta_worker *self, uint32_t tensor, int64_t copy,
                        int64_t number);

#endif // HFTA_SRC_SCHEDULE_WORKER_H
