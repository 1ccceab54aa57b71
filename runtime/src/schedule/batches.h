//===- batches.h - Batches on their way to the device -----------*- C -*-===//
//
// A schedule may bring the first micro-batch of the next call's batch, once the
// host has offered it. The instances of input segments are therefore taken
// in turn over all calls, and that call finds them in their places.
//
// Threads: one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_BATCHES_H
#define HFTA_SRC_SCHEDULE_BATCHES_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

/// Of a batch: a pointer a data field.
typedef struct hfta_batches {
  uint32_t field_count;
  const void **offered; ///< the next call's batch, if `has_offer`
  const void **held;    ///< the batch that the last call brought in part
  bool has_offer;
  int64_t coming; ///< micro-batches of the offered batch that this call brings
  int64_t count;  ///< those of the held one, in place before its call
  int64_t first;  ///< micro-batches of all calls before this one
  const hfta_schedule *schedule; ///< that of the last call
} hfta_batches;

/// HFTA_UNSUPPORTED: not enough memory.
hfta_status hfta_batches_create(hfta_batches *self, uint32_t field_count,
                                hfta_error *error);
void hfta_batches_destroy(hfta_batches *self);

/// Nothing is offered, nor held.
void hfta_batches_forget(hfta_batches *self);

/// `fields` is copied; what they point to stays the caller's.
void hfta_batches_offer(hfta_batches *self, const void *const *fields);

/// A call begins, for a batch. What is held counts only for the same schedule.
void hfta_batches_begin(hfta_batches *self, const hfta_schedule *schedule,
                        const void *const *fields);

/// The memory of a field of the batch that has the call's micro-batch `place`,
/// counted among the `count` of the call that are the rank's: the call's, or,
/// past them, the offered one. NULL if it is in its place already, or nobody
/// offers it.
const void *hfta_batches_find(hfta_batches *self, const void *const *fields,
                              uint32_t field, int64_t place, int64_t count);

/// The call's `micro_batches` are done, or it has failed.
void hfta_batches_end(hfta_batches *self, int64_t micro_batches, bool failed);

#endif // HFTA_SRC_SCHEDULE_BATCHES_H
