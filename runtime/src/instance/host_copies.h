//===- host_copies.h - Copies that aren't on the device ---------*- C -*-===//
//
// If a GPU has no room for all copies, only some of them are on it at a time,
// each with a slab in every segment of slabs, and run their steps. Meanwhile
// the host's memory holds the state that the other copies keep from step to
// step. A call of a worker first copies the copies that were on the GPU back to
// the host, then those for which it is made to the GPU. Segments without slabs,
// such as scalars and results, are on the GPU for all copies.
//
// Threads: used by one thread at a time, as the worker is.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_HOST_COPIES_H
#define HFTA_SRC_INSTANCE_HOST_COPIES_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

struct hfta_worker;

/// The copies of a worker that aren't on the device, and those that are.
typedef struct hfta_host_copies {
  int64_t most; ///< the most copies on the device at a time; 0: all copies are
                ///< there, and the members below are unused
  /// For each segment, the slabs of all copies, one after another; NULL: it has
  /// no slabs, or none of its contents outlive a turn.
  char **slabs;
  bool *is_locked; ///< for each segment, whether `slabs` is page-locked, so
                   ///< that transfers are fast
  /// For each segment `hfta_task_call.keeps`, all false: on the device, slabs
  /// are numbered by position among the call's copies.
  bool *keeps;
  int32_t *present; ///< the copies on the device, in the order of their slabs
  int64_t present_count;
  bool is_changed; ///< tasks have written to the slabs on the device since they
                   ///< were copied there
  bool is_lost;    ///< a call has failed while the copies were there, so that
                   ///< their state is unknown
} hfta_host_copies;

/// Reduces the number of copies on the device after it had no room for the
/// segments of all copies: finds the fewest turns, all of the same width, that
/// fit. HFTA_UNSUPPORTED if there is no room even for a single copy, or if
/// copies can't take turns; the worker's message then also says how much memory
/// one copy needs.
hfta_status hfta_host_copies_open(struct hfta_worker *worker);
void hfta_host_copies_close(struct hfta_worker *worker);

/// Sets the host's slabs of all copies to zeros, and marks no copy as being on
/// the device.
void hfta_host_copies_reset(struct hfta_worker *worker);

/// Makes `copies` the copies on the device: transfers the slabs of those that
/// are there back to the host if tasks have changed them, then the slabs of
/// `copies` to the device. `copies` are ascending, and at most as many as there
/// is room for. The transfers go to queue 0 and aren't waited for.
void hfta_host_copies_bring(struct hfta_worker *worker, const int32_t *copies,
                            int64_t count);

/// Records that a task writes a segment, so that its slabs must be copied back.
void hfta_host_copies_write(struct hfta_worker *worker, uint32_t segment);

/// Records that a call on the device has failed, so that the state of the
/// copies there is unknown.
void hfta_host_copies_lose(struct hfta_worker *worker);

/// Returns whether the host holds the slabs of a segment, so that the host
/// reads and writes its tensors there.
bool hfta_host_copies_have(const struct hfta_worker *worker, uint32_t segment);

/// Returns whether `memory` is an address in the host's slabs of the segment.
bool hfta_host_copies_hold(const struct hfta_worker *worker, uint32_t segment,
                           const void *memory);

/// Finds the address of a copy's tensor in the host's slabs, for a segment for
/// which hfta_host_copies_have is true. Before that, copies the slabs back from
/// the device and waits for all of its work, so that the values are the current
/// ones. `writes`: the host is going to write there, so that the slabs on the
/// device become invalid. Fails if the device can't copy the slabs back.
hfta_status hfta_host_copies_find(struct hfta_worker *worker, uint32_t tensor,
                                  int64_t copy, bool writes, char **out);

#endif // HFTA_SRC_INSTANCE_HOST_COPIES_H
