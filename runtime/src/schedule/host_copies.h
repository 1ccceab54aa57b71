//===- host_copies.h - Copies that aren't on the device ---------*- C -*-===//
//
// A GPU that has no room for all copies holds some of them: these are on the
// device, each in a slab of every segment of slabs, and run their steps there;
// the state that the others keep from step to step lies in the host's memory
// meanwhile. A worker's call copies the copies that it is for to the device,
// and those that were there before back. Segments without slabs, such as
// scalars and results, stay on the device for all copies.
//
// Threads: as for a worker.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_HOST_COPIES_H
#define HFTA_SRC_SCHEDULE_HOST_COPIES_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

struct hfta_worker;

typedef struct hfta_host_copies {
  int64_t most; ///< how many copies are on the device at a time; 0: all of
                ///< them, and the members below are unused
  char **slabs; ///< for each segment the consecutive slabs of all copies; NULL:
                ///< it has none, or none of its contents outlive a turn
  bool *is_locked;  ///< one per segment: page-locked, so that copies are fast
  bool *keeps;      ///< one per segment, as for a task's call: false, since
                    ///< slabs are numbered in the order of the call's copies
  int32_t *present; ///< the copies that are on the device, by slab
  int64_t present_count;
  bool is_changed; ///< tasks have written to them since they came
  bool is_lost;    ///< a call has failed while they were there
} hfta_host_copies;

/// Reduces the number of copies on the device, after it had no room for all
/// copies' segments: to the fewest possible turns, all of the same width. If
/// there is no room for a single copy, or copies can't take turns, it returns
/// HFTA_UNSUPPORTED with the worker's message and the needs of one copy.
hfta_status hfta_host_copies_open(struct hfta_worker *worker);
void hfta_host_copies_close(struct hfta_worker *worker);

/// Sets the slabs of all copies to zeros; none is on the device.
void hfta_host_copies_reset(struct hfta_worker *worker);

/// Copies the slabs of the copies on the device back, and those of `copies` to
/// the device. `copies` are ascending, and at most as many as there is room
/// for. The transfers go to queue 0 and aren't waited for.
void hfta_host_copies_bring(struct hfta_worker *worker, const int32_t *copies,
                            int64_t count);

/// Records that a task writes a segment.
void hfta_host_copies_write(struct hfta_worker *worker, uint32_t segment);

/// Records that a call on the device has failed: the state of the copies there
/// is unknown.
void hfta_host_copies_lose(struct hfta_worker *worker);

/// Whether a segment's slabs lie in the host's memory, where they are read and
/// written.
bool hfta_host_copies_have(const struct hfta_worker *worker, uint32_t segment);

/// Whether `memory` lies in the host's memory of the segment.
bool hfta_host_copies_hold(const struct hfta_worker *worker, uint32_t segment,
                           const void *memory);

/// Finds the address of a copy's tensor in the host's memory of such a segment.
/// It copies the slabs back from the device and waits for all work of the
/// device first, so that the host finds the copy's current values. `writes`:
/// the host writes there, so that the slabs on the device become invalid. Fails
/// where the device can't copy the slabs back.
hfta_status hfta_host_copies_find(struct hfta_worker *worker, uint32_t tensor,
                                  int64_t copy, bool writes, char **out);

#endif // HFTA_SRC_SCHEDULE_HOST_COPIES_H
