//===- whole_batches.h - Models that take whole batches alone ---*- C -*-===//

#ifndef HFTA_SRC_WORKLOAD_WHOLE_BATCHES_H
#define HFTA_SRC_WORKLOAD_WHOLE_BATCHES_H

#include "hfta/status.h"

#include <stdint.h>

/// Checks that `samples` samples fill whole batches if a node of the model,
/// `mixed_by` (NULL or "": none), mixes the samples of a batch. Otherwise the
/// last batch would have to be padded, and the padding would change the other
/// samples' results. `what` names what holds the samples, such as "the test
/// data", for the message of HFTA_INVALID_INPUT.
hfta_status hfta_check_whole_batches(const char *mixed_by, const char *what,
                                     int64_t samples, int64_t batch,
                                     hfta_error *error);

#endif // HFTA_SRC_WORKLOAD_WHOLE_BATCHES_H
