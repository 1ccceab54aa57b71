//===- made_inputs.h - Inputs that an instance adds to a batch ----*- C -*-===//
//
// A training's feed gives batches with all fields. A program that embeds a
// training gives those of the data block, and the instance adds the ones that
// the runtime makes: the index of a sample is then its position in the batch,
// and the epoch is the number of steps done, so that no two steps augment
// alike, and a loaded training goes on as an uninterrupted one. Several batches
// of one step, which are accumulated, count as one large batch.
//
// Threads: used by one thread at a time, as the instance is.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_MADE_INPUTS_H
#define HFTA_SRC_INSTANCE_MADE_INPUTS_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

struct hfta_instance;

/// Buffers for the fields that an instance makes.
typedef struct hfta_made_inputs {
  const void **inputs; ///< one per field; NULL: the program has no such fields
  int64_t *samples;    ///< one per sample of a batch
  bool are_given; ///< batches have all fields, so that nothing is to be added
} hfta_made_inputs;

/// Allocates the buffers. hfta_made_inputs_close frees them, also after a
/// failure.
hfta_status hfta_made_inputs_open(struct hfta_instance *instance);
void hfta_made_inputs_close(struct hfta_instance *instance);

/// Returns a batch with all fields: `inputs` itself if it has them, else an
/// array that is valid until the next call.
const void *const *hfta_made_inputs_add(struct hfta_instance *instance,
                                        const void *const *inputs);

#endif // HFTA_SRC_INSTANCE_MADE_INPUTS_H
