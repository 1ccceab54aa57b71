//===- spill.h - A worker's arena and store ---------------------*- C -*-===//
//
// Where segments that aren't resident are: in the arena from a FETCH to a DROP,
// and what is spilled in the store meanwhile.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SPILL_H
#define HFTA_SRC_SCHEDULE_SPILL_H

#include "hfta/store.h"
#include "schedule/seat.h"
#include "schedule/workload.h"

struct hfta_worker;

/// What lies in the arena, or has lain there: of one instance of a segment.
typedef struct hfta_held {
  char *at;       ///< NULL: nothing that could be used again
  uint64_t bytes; ///< of its place
  int64_t first;  ///< place of its first copy among those that run
  int64_t copies;
  bool is_clean;  ///< the store has the same
  uint32_t queue; ///< that may still be reading it, or HFTA_NO_QUEUE
} hfta_held;

#define HFTA_NO_QUEUE UINT32_MAX

typedef struct hfta_spill {
  hfta_store *store; ///< NULL: nothing is spilled
  char *arena;       ///< NULL: all is resident; a seat's where it has one
  uint64_t arena_bytes;
  bool is_lent;      ///< the arena is a seat's
  uint64_t *extents; ///< of each segment its first one in the store: one an
                     ///< instance, and copy if it has slabs
  uint32_t *firsts;  ///< of each segment its first one in `held`
  hfta_held *held;   ///< one an instance of what isn't resident
  hfta_held *coming; ///< the same of what is fetched for a later call
  uint32_t held_count;
  bool waits;          ///< the host waits before each transfer, and for it
  hfta_status failure; ///< of one that it has waited for in this call
} hfta_spill;

/// Where the host is when it gives a command of this kind.
typedef struct hfta_spill_moment {
  const hfta_schedule *schedule;
  int64_t instance;      ///< of the command's segment
  uint64_t turn_copies;  ///< as the schedule has it; 0: outside of such turns
  const int32_t *copies; ///< of the turn
  int64_t first, copy_count; ///< among those that run, and how many
  bool is_ahead;             ///< tasks find it with the next FETCH alone
} hfta_spill_moment;

/// Memory, and the store in the folder, after the worker's device is there.
/// After a failure too, hfta_spill_close frees what there is.
hfta_status hfta_spill_open(struct hfta_worker *worker,
                            const hfta_store_options *options);
void hfta_spill_close(struct hfta_worker *worker);

/// What isn't resident has its places in the seat's arena from now on.
void hfta_spill_sit(struct hfta_worker *worker, const hfta_seat *seat);

/// What isn't resident holds nothing, and what is spilled zeros.
void hfta_spill_reset(struct hfta_worker *worker);

/// Nothing that lies in the arena is used again: other copies run, or something
/// has failed.
void hfta_spill_forget(struct hfta_worker *worker);

/// Where nothing is computed meanwhile: waits for all that queues were given.
void hfta_spill_wait(struct hfta_worker *worker);

/// All that queues were given is done.
void hfta_spill_settle(struct hfta_worker *worker);

/// FETCH, EVICT and DROP.
void hfta_spill_fetch(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_evict(struct hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment);
void hfta_spill_drop(struct hfta_worker *worker, const hfta_command *command,
                     const hfta_spill_moment *moment);

/// How far behind its first byte an instance has the slab of the copy at place
/// `first` among those that run. The host has given it a place, or it stays.
uint64_t hfta_spill_offset(const struct hfta_worker *worker, uint32_t segment,
                           int64_t instance, int64_t first);

/// A task writes an instance of a segment.
void hfta_spill_write(struct hfta_worker *worker, uint32_t segment,
                      int64_t instance);

/// A copy's bytes of a spilled tensor, of its segment's first instance, when
/// nothing else is under way.
hfta_status hfta_spill_read_tensor(struct hfta_worker *worker, uint32_t tensor,
                                   int64_t copy, uint64_t offset, void *to,
                                   uint64_t bytes, hfta_error *error);
hfta_status hfta_spill_write_tensor(struct hfta_worker *worker, uint32_t tensor,
                                    int64_t copy, uint64_t offset,
                                    const void *from, uint64_t bytes,
                                    hfta_error *error);

/// The segment that an extent is of; UINT32_MAX: none.
uint32_t hfta_spill_find_segment(const struct hfta_worker *worker,
                                 uint64_t extent);

#endif // HFTA_SRC_SCHEDULE_SPILL_H
