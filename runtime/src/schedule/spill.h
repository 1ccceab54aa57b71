//===- spill.h - A worker's arena and store ---------------------*- C -*-===//
//
// Manages segments that aren't resident: they are in the arena from a FETCH to
// a DROP, and spilled ones in the store meanwhile.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SPILL_H
#define HFTA_SRC_SCHEDULE_SPILL_H

#include "hfta/store.h"
#include "schedule/seat.h"
#include "schedule/workload.h"

struct hfta_worker;

/// A place in the arena, and its present or former contents: an instance of a
/// segment.
typedef struct hfta_held {
  char *at;       ///< NULL: there are no contents that could be used again
  uint64_t bytes; ///< size of the place
  int64_t first;  ///< position of its first copy among the live ones
  int64_t copies;
  bool is_clean;  ///< the store has the same contents
  uint32_t queue; ///< a queue that may still be reading it, or HFTA_NO_QUEUE
} hfta_held;

#define HFTA_NO_QUEUE UINT32_MAX

typedef struct hfta_spill {
  hfta_store *store; ///< NULL: nothing is spilled
  char *arena;       ///< NULL: all is resident; a seat's arena if the worker
                     ///< has a seat
  uint64_t arena_bytes;
  bool is_lent;      ///< the arena belongs to a seat
  uint64_t *extents; ///< for each segment its first extent in the store; there
                     ///< is one for each instance, and for each copy if it has
                     ///< slabs
  uint32_t *firsts;  ///< for each segment its first entry in `held`
  hfta_held *held;   ///< one for each instance of a segment that isn't resident
  hfta_held *coming; ///< like `held`, for contents that are fetched for a later
                     ///< call
  uint32_t held_count;
  bool waits;          ///< the host waits before and after each transfer
  hfta_status failure; ///< first failure of such a wait in this call
} hfta_spill;

/// The state of the host when it gives a command of this kind.
typedef struct hfta_spill_moment {
  const hfta_schedule *schedule;
  int64_t instance;      ///< instance of the command's segment
  uint64_t turn_copies;  ///< copies per turn, if the schedule gives them; 0: it
                         ///< doesn't, or outside of turns
  const int32_t *copies; ///< copies of the turn
  int64_t first, copy_count; ///< position among the live copies, and number
  bool is_ahead;             ///< for a later call: tasks use the contents only
                             ///< after the next FETCH
} hfta_spill_moment;

/// Allocates memory, and opens the store in the folder, after the worker's
/// device was opened. hfta_spill_close frees both, also after a failure.
hfta_status hfta_spill_open(struct hfta_worker *worker,
                            const hfta_store_options *options);
void hfta_spill_close(struct hfta_worker *worker);

/// Moves the segments that aren't resident to the seat's arena.
void hfta_spill_sit(struct hfta_worker *worker, const hfta_seat *seat);

/// Makes segments that aren't resident undefined, and spilled ones zeros.
void hfta_spill_reset(struct hfta_worker *worker);

/// Makes sure that nothing in the arena is used again, because other copies
/// run, or something has failed.
void hfta_spill_forget(struct hfta_worker *worker);

/// Waits for all queues, if transfers and tasks don't overlap (`waits`).
void hfta_spill_wait(struct hfta_worker *worker);

/// Records that all work of the queues is done.
void hfta_spill_settle(struct hfta_worker *worker);

/// Run FETCH, EVICT and DROP.
void hfta_spill_fetch(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_evict(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_drop(struct hfta_worker *worker, const hfta_command *command,
                     const hfta_spill_moment *moment);

/// Returns the offset in an instance of the slab of the copy at position
/// `first` among the live ones. The instance must have a place, or be resident.
uint64_t hfta_spill_offset(const struct hfta_worker *worker, uint32_t segment,
                           int64_t instance, int64_t first);

/// Records that a task writes an instance of a segment.
void hfta_spill_write(struct hfta_worker *worker, uint32_t segment,
                      int64_t instance);

/// Read and write a copy's bytes of a spilled tensor in its segment's first
/// instance; nothing else may be in flight.
hfta_status hfta_spill_read_tensor(struct hfta_worker *worker, uint32_t tensor,
                                   int64_t copy, uint64_t offset, void *to,
                                   uint64_t bytes, hfta_error *error);
hfta_status hfta_spill_write_tensor(struct hfta_worker *worker, uint32_t tensor,
                                    int64_t copy, uint64_t offset,
                                    const void *from, uint64_t bytes,
                                    hfta_error *error);

/// Returns the segment that an extent belongs to; UINT32_MAX: none.
uint32_t hfta_spill_find_segment(const struct hfta_worker *worker,
                                 uint64_t extent);

#endif // HFTA_SRC_SCHEDULE_SPILL_H
