//===- whole_batches.h - Models that take whole batches alone ---*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_WHOLE_BATCHES_H
#define HFTA_SRC_SCHEDULE_WHOLE_BATCHES_H

#include "hfta/instance.h"

/// Checks that samples fill whole batches, if the node `mixed_by` mixes the
/// samples of a batch; it is NULL or "" where none does. Otherwise the last
/// batch would be filled up with samples that change the others' results.
/// `what` holds the samples, such as "the test data".
hfta_status hfta_check_whole_batches(const char *mixed_by, const char *what,
                                     int64_t samples, int64_t batch,
                                     hfta_error *error);

#endif // HFTA_SRC_SCHEDULE_WHOLE_BATCHES_H
