//===- batches.h - Batches on their way to the device -----------*- C -*-===//
//
// A schedule may copy the first micro-batch of the next call's batch to the
// device, if the host has offered (announced) that batch. The instances of
// input segments are used round-robin across all calls, so that the next call
// finds the micro-batch in the instance where it looks for it.
//
// Threads: used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_BATCHES_H
#define HFTA_SRC_INSTANCE_BATCHES_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

/// The state of transfers of batches to the device. A batch is given as one
/// pointer per data field.
typedef struct hfta_batches {
  uint32_t field_count;
  /// The offered batch, that of the next call, if `has_offer`.
  const void **offered;
  const void **held; ///< the held batch: the one of which the last call has
                     ///< copied a part, for the call after it
  bool has_offer;
  int64_t coming; ///< number of micro-batches of the offered batch that this
                  ///< call copies
  int64_t count;  ///< number of micro-batches of the held batch that are on the
                  ///< device already
  int64_t first;  ///< number of micro-batches of all calls before this one
  const hfta_schedule *schedule; ///< the schedule of the last call
} hfta_batches;

/// Allocates the state; HFTA_UNSUPPORTED without enough memory.
/// hfta_batches_destroy frees it, also after a failure.
hfta_status hfta_batches_create(hfta_batches *self, uint32_t field_count,
                                hfta_error *error);
void hfta_batches_destroy(hfta_batches *self);

/// Forgets the offered batch, and the one of which a part was copied ahead.
void hfta_batches_forget(hfta_batches *self);

/// Offers the next call's batch. The pointers in `fields` are copied; the data
/// remain the caller's.
void hfta_batches_offer(hfta_batches *self, const void *const *fields);

/// Begins a call for a batch. Micro-batches that the last call has copied ahead
/// are used only if both calls are for the same schedule and the batch has the
/// same pointers.
void hfta_batches_begin(hfta_batches *self, const hfta_schedule *schedule,
                        const void *const *fields);

/// Returns the data of a field in the batch that contains the micro-batch at
/// `place`. Places count the rank's micro-batches: the first `count` belong to
/// the call's batch, later ones to the offered batch. NULL if the micro-batch
/// is already on the device, or is of a batch that wasn't offered.
const void *hfta_batches_find(hfta_batches *self, const void *const *fields,
                              uint32_t field, int64_t place, int64_t count);

/// Ends a call that ran `micro_batches` micro-batches. After a failure,
/// micro-batches that were copied ahead are forgotten.
void hfta_batches_end(hfta_batches *self, int64_t micro_batches, bool failed);

#endif // HFTA_SRC_INSTANCE_BATCHES_H
