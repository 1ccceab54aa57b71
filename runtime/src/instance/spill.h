//===- spill.h - A worker's arena and store ---------------------*- C -*-===//
//
// Manages a worker's segments that aren't resident. They are in the arena from
// a FETCH to a DROP; the contents of spilled segments are in the store
// otherwise.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_SPILL_H
#define HFTA_SRC_INSTANCE_SPILL_H

#include "hfta/store.h"
#include "instance/seat.h"
#include "workload/workload.h"

struct hfta_worker;

/// A place in the arena, and the instance of a segment that is or was there.
/// Its contents may be used again as long as nothing overwrites them.
typedef struct hfta_held {
  char *at; ///< address of the place; NULL: its contents can't be used again
  uint64_t bytes; ///< size of the place
  int64_t first;  ///< position of its first copy among the live ones
  int64_t copies; ///< number of its copies
  /// Whether the store has the same bytes as this place, so that evicting them
  /// needs no write.
  bool is_clean;
  uint32_t queue; ///< the queue that may still be reading it from the store, or
                  ///< HFTA_NO_QUEUE
} hfta_held;

/// The queue of a place that no queue is reading any more.
#define HFTA_NO_QUEUE UINT32_MAX

/// A worker's arena and store, and what is in the arena.
typedef struct hfta_spill {
  /// The store of spilled segments; NULL: nothing is spilled.
  hfta_store *store;
  char *arena; ///< NULL: all segments are resident. If the worker has a seat,
               ///< it is the seat's arena
  uint64_t arena_bytes;
  bool is_lent;      ///< the arena belongs to a seat
  uint64_t *extents; ///< for each segment its first extent in the store. A
                     ///< spilled segment has one extent per instance, and with
                     ///< slabs one per instance and copy
  /// For each segment, the index of its first entry in `held`.
  uint32_t *firsts;
  /// For each instance of a segment that isn't resident, its place.
  hfta_held *held;
  hfta_held *coming; ///< like `held`, but for contents that were fetched ahead
                     ///< for a later call
  uint32_t held_count;
  bool waits; ///< transfers must not overlap with tasks: the host waits before
              ///< and after each
  /// First failure, in this call, of a wait because of `waits`.
  hfta_status failure;
} hfta_spill;

/// The position in a schedule at which the host issues a FETCH, EVICT or DROP.
typedef struct hfta_spill_moment {
  const hfta_schedule *schedule;
  int64_t instance;      ///< instance of the command's segment
  uint64_t turn_copies;  ///< copies per turn, if the schedule gives the number;
                         ///< 0: it doesn't, or no turn is current
  const int32_t *copies; ///< copies of the turn
  int64_t first, copy_count; ///< position of the first of `copies` among the
                             ///< live ones, and their number
  bool is_ahead; ///< the FETCH is for a later call, whose own FETCH lets tasks
                 ///< use the contents
} hfta_spill_moment;

/// Allocates the arena and opens the store, after the worker's device was
/// opened. hfta_spill_close frees both, also after a failure.
hfta_status hfta_spill_open(struct hfta_worker *worker,
                            const hfta_store_options *options);
void hfta_spill_close(struct hfta_worker *worker);

/// Makes the worker use the seat's arena. Contents that it had fetched are
/// forgotten, unless they are still in this arena.
void hfta_spill_sit(struct hfta_worker *worker, const hfta_seat *seat);

/// Makes the contents of segments that aren't resident undefined, but those of
/// spilled ones zeros.
void hfta_spill_reset(struct hfta_worker *worker);

/// Makes sure that no contents of the arena are used again, because other
/// copies run from now on, or because a call has failed.
void hfta_spill_forget(struct hfta_worker *worker);

/// If `waits` is set, waits for all work of all queues; a failure is left in
/// `failure`.
void hfta_spill_wait(struct hfta_worker *worker);

/// Records that the queues have done all of their work, so that none is reading
/// from the store.
void hfta_spill_settle(struct hfta_worker *worker);

/// Issue a FETCH, EVICT or DROP for the instance that `moment` names.
void hfta_spill_fetch(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_evict(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_drop(struct hfta_worker *worker, const hfta_command *command,
                     const hfta_spill_moment *moment);

/// Returns the offset, in an instance of a segment, of the slab of the copy at
/// position `first` among the live ones; 0 if the segment is resident, or the
/// schedule keeps all of its slabs. Otherwise the instance must have a place in
/// the arena.
uint64_t hfta_spill_offset(const struct hfta_worker *worker, uint32_t segment,
                           int64_t instance, int64_t first);

/// Records that a task writes an instance of a segment, so that its contents
/// differ from the store's.
void hfta_spill_write(struct hfta_worker *worker, uint32_t segment,
                      int64_t instance);

/// Read and write bytes, from `offset` on, of a copy's tensor in the store: in
/// the first instance of its spilled segment. Nothing else may be in flight.
hfta_status hfta_spill_read_tensor(struct hfta_worker *worker, uint32_t tensor,
                                   int64_t copy, uint64_t offset, void *to,
                                   uint64_t bytes, hfta_error *error);
hfta_status hfta_spill_write_tensor(struct hfta_worker *worker, uint32_t tensor,
                                    int64_t copy, uint64_t offset,
                                    const void *from, uint64_t bytes,
                                    hfta_error *error);

/// Returns the segment that an extent of the store belongs to; UINT32_MAX if
/// there is none.
uint32_t hfta_spill_find_segment(const struct hfta_worker *worker,
                                 uint64_t extent);

#endif // HFTA_SRC_INSTANCE_SPILL_H
