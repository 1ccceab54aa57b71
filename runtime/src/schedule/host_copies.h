//===- host_copies.h - Copies that aren't on the device ---------*- C -*-===//
//
// A GPU that has no room for all copies has it for some: these are on the
// device, in a slab each of every segment of slabs, and go through their steps
// there; what the others have from step to step lies in the host's memory
// meanwhile. A worker's call brings the copies that it is for, and takes those
// back that were there before. Segments without slabs, such as scalars and
// results, stay on the device for all copies.
//
// Threads: as a worker's.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_HOST_COPIES_H
#define HFTA_SRC_SCHEDULE_HOST_COPIES_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

struct hfta_worker;

typedef struct hfta_host_copies {
  int64_t most; ///< how many copies are on the device; 0: all of them, and
                ///< nothing of what follows is there
  char **slabs; ///< of each segment all copies', one behind the other; NULL: it
                ///< has none, or nothing of it outlives a turn
  bool *is_locked;  ///< one a segment: the device copies to and from it fast
  bool *keeps;      ///< one a segment, as a task's call has it: false, for
                    ///< slabs are numbered as the call's copies are
  int32_t *present; ///< the copies that are on the device, by slab
  int64_t present_count;
  bool is_changed; ///< these have been at work since they came
  bool is_lost;    ///< something has failed while they were there
} hfta_host_copies;

/// After the device had no room for all copies' segments: for as many that the
/// copies go in as few turns as there may be, each of as many. Where there is
/// none for a single one, or copies can't take turns, HFTA_UNSUPPORTED with the
/// message that the worker has, and what one copy needs.
hfta_status hfta_host_copies_open(struct hfta_worker *worker);
void hfta_host_copies_close(struct hfta_worker *worker);

/// All copies have zeros, and none is on the device.
void hfta_host_copies_reset(struct hfta_worker *worker);

/// Has the device take back those that are there, and take in these, ascending
/// and at most as many as there is room for; given to queue 0, not waited for.
void hfta_host_copies_bring(struct hfta_worker *worker, const int32_t *copies,
                            int64_t count);

/// A task writes a segment.
void hfta_host_copies_write(struct hfta_worker *worker, uint32_t segment);

/// A call on the device has failed: what copies have there isn't known.
void hfta_host_copies_lose(struct hfta_worker *worker);

/// Whether a segment's slabs lie here, where they are read and written.
bool hfta_host_copies_have(const struct hfta_worker *worker, uint32_t segment);

/// Whether `memory` lies in what the host has of the segment.
bool hfta_host_copies_hold(const struct hfta_worker *worker, uint32_t segment,
                           const void *memory);

/// The address of a copy's tensor of such a segment, in which the host finds
/// what the copy has, if all has been waited for that the device was given.
/// `writes`: the host writes there, and the device has none of it any more.
/// Fails where the device can't give back what it has.
hfta_status hfta_host_copies_find(struct hfta_worker *worker, uint32_t tensor,
                                  int64_t copy, bool writes, char **out);

#endif // HFTA_SRC_SCHEDULE_HOST_COPIES_H
