//===- worker.h - One replica of a stage, within an instance ----*- C -*-===//
//
// A worker runs one replica of a stage. It has memory for the segments that its
// schedules use, a share of a step's micro-batches, and a device to whose
// queues it gives its commands. In a job of one stage an instance has a single
// worker, which computes the shares of all replicas of its rank.
//
// Threads: a call of the instance runs a worker on one thread. Between calls,
// the host may use it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_WORKER_H
#define HFTA_SRC_INSTANCE_WORKER_H

#include "hfta/device.h"
#include "instance/ahead_areas.h"
#include "instance/batches.h"
#include "instance/broadcasts.h"
#include "instance/host_copies.h"
#include "instance/messages.h"
#include "instance/spill.h"
#include "instance/sums.h"
#include "workload/share.h"
#include "workload/turns.h"
#include "workload/workload.h"

/// The memory of one segment: all of its instances.
typedef struct hfta_segment_memory {
  void **bases; ///< the addresses of `count` instances; NULL for one that isn't
                ///< resident and has no place in the arena
  char *host;   ///< the host's image of all instances, one after another; NULL:
                ///< there is none
  uint64_t bytes; ///< size of each instance
  uint32_t count; ///< number of instances; 0: the segment isn't needed, or is
                  ///< scratch memory, which the device has
  uint32_t read_only; ///< the worker doesn't own the memory at `bases`: it is
                      ///< in the program's image or the arena
} hfta_segment_memory;

/// A worker: its memory, its share of the work, and the state of its calls.
typedef struct hfta_worker {
  const hfta_instance *instance; ///< the instance that it belongs to
  const hfta_program *program;
  hfta_workload workload;
  /// The communicator of the workers that share the groups: ranks, or replicas
  /// of its stage.
  hfta_communicator *communicator;
  /// The communicator of all workers of all stages; NULL if there is one stage.
  hfta_communicator *everyone;
  hfta_share share;
  hfta_sums sums_of_groups;
  hfta_broadcasts broadcasts;
  hfta_messages messages; ///< messages to and from other stages
  hfta_device *device;
  hfta_segment_memory *memory; ///< one per segment
  bool lacks_memory; ///< the last allocation failed because the device has too
                     ///< little memory
  hfta_host_copies host_copies; ///< copies in the host's memory, if the device
                                ///< has no room for all
  hfta_spill spill;
  void **call_bases; ///< base addresses of the segments for the task that is
                     ///< being issued
  bool *keeps; ///< for each segment, whether the running schedule `keeps` it
  int32_t *chosen;   ///< room for chosen copies, and for their positions
  hfta_turns *turns; ///< for each schedule, the width of its turns
  hfta_batches batches;
  /// State of posted steps; NULL: none was posted yet.
  hfta_ahead *ahead;
  hfta_error error; ///< its last failure
} hfta_worker;

/// Opens the instance's worker number `index`. `*self` must be zeros before.
/// hfta_worker_close frees what it has, also after a failure.
hfta_status hfta_worker_open(hfta_worker *self, const hfta_instance *instance,
                             uint32_t index);

/// Opens the worker's device, as hfta_device_open does.
hfta_status hfta_worker_open_device(hfta_worker *self, const char *text,
                                    const hfta_device_options *options);

/// Allocates the segments, and the memory that the device itself needs, for as
/// many copies as the workload says. If the device lacks memory for this, sets
/// `lacks_memory` and fails; some segments may then be allocated.
hfta_status hfta_worker_allocate_segments(hfta_worker *self);
void hfta_worker_release_segments(hfta_worker *self);

/// Allocates memory, opens the store and plans messages, after the device was
/// opened. If a GPU has no room for all copies, fewer copies get slabs on it
/// (host_copies.h).
hfta_status hfta_worker_allocate(hfta_worker *self,
                                 const hfta_store_options *store);

/// Waits for the device's work and closes the worker. `keeps_memory`: segments
/// and arena stay allocated until the process ends, as other ranks may still be
/// sending to them.
void hfta_worker_close(hfta_worker *self, bool keeps_memory);

/// Gives all segments their contents from before `initialize`: their images'
/// bytes, or zeros where they are needed. The commands go to queue 0 and aren't
/// waited for. `is_new`: nothing was written to the segments yet.
void hfta_worker_reset(hfta_worker *self, bool is_new);

/// Begins the search for the width of turns again, because the live copies have
/// changed.
void hfta_worker_begin_turns(hfta_worker *self);

/// Sets gradients and moments to zeros and waits for it.
hfta_status hfta_worker_clear_gradients(hfta_worker *self);

/// Returns the worker's number among the workers of all stages.
int64_t hfta_worker_number(const hfta_worker *self);

/// Returns the number of the worker that is peer 0 in a post of the worker's
/// device: its messages name peers within the stage, or among all workers. 0 if
/// there is one stage.
int64_t hfta_worker_first_peer(const hfta_worker *self, const hfta_post *post);

/// Returns the number of a segment's instance for a micro-batch, which has
/// position `place` among the worker's and `number` in the step. The caller
/// must take it modulo the number of instances.
int64_t hfta_worker_instance(const hfta_worker *self, uint32_t segment,
                             int64_t place, int64_t number);

/// Returns the address of a copy's tensor in the first instance of its segment,
/// which the worker must have, and which must be resident.
char *hfta_worker_address(const hfta_worker *self, uint32_t tensor,
                          int64_t copy);

/// Returns the address of a copy's scalar in the host's image of instance
/// `number` of its segment. NULL if the worker has no image, or `tensor` is
/// UINT32_MAX (an absent role).
char *hfta_worker_image(const hfta_worker *self, uint32_t tensor, int64_t copy,
                        int64_t number);

#endif // HFTA_SRC_INSTANCE_WORKER_H
