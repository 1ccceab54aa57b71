//===- batches.h - Batches on their way to the device -----------*- C -*-===//
//
// A schedule may copy the first micro-batch of the next call's batch to the
// device, once the host has offered that batch. The instances of input segments
// are therefore used in turn across all calls, so that the next call finds the
// micro-batch in its place.
//
// Threads: one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_BATCHES_H
#define HFTA_SRC_SCHEDULE_BATCHES_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

/// The state of these transfers. A batch is given as one pointer per data
/// field.
typedef struct hfta_batches {
  uint32_t field_count;
  const void **offered; ///< the next call's batch, if `has_offer`
  const void **held;    ///< the batch that the last call has copied in part
  bool has_offer;
  int64_t coming; ///< micro-batches of the offered batch that this call copies
  int64_t count;  ///< micro-batches of the held batch that were copied before
                  ///< its call
  int64_t first;  ///< the number of micro-batches of all calls before this one
  const hfta_schedule *schedule; ///< the schedule of the last call
} hfta_batches;

/// HFTA_UNSUPPORTED: not enough memory.
hfta_status hfta_batches_create(hfta_batches *self, uint32_t field_count,
                                hfta_error *error);
void hfta_batches_destroy(hfta_batches *self);

/// Forgets the offered batch and the held one.
void hfta_batches_forget(hfta_batches *self);

/// Offers the next call's batch. `fields` is copied; the data remain the
/// caller's.
void hfta_batches_offer(hfta_batches *self, const void *const *fields);

/// Begins a call for a batch. The held micro-batches count only if the schedule
/// is the same as in the last call.
void hfta_batches_begin(hfta_batches *self, const hfta_schedule *schedule,
                        const void *const *fields);

/// Returns the memory of a field of the batch that contains the micro-batch at
/// `place`. The places count the rank's micro-batches: the first `count` are
/// those of the call, later ones are those of the offered batch. NULL if the
/// micro-batch is already on the device, or its batch isn't offered.
const void *hfta_batches_find(hfta_batches *self, const void *const *fields,
                              uint32_t field, int64_t place, int64_t count);

/// Ends a call of `micro_batches`, successful or failed.
void hfta_batches_end(hfta_batches *self, int64_t micro_batches, bool failed);

#endif // HFTA_SRC_SCHEDULE_BATCHES_H
