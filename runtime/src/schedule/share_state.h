//===- share_state.h - Sends the first rank's data to all ranks ---*- C -*-===//
//
// Only the first rank reads and writes checkpoints, so that the others need no
// access to its folder. All ranks make these calls in the same order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SHARE_STATE_H
#define HFTA_SRC_SCHEDULE_SHARE_STATE_H

#include "schedule/instance_impl.h"

/// Sends `bytes` bytes at `memory` to all ranks; does nothing if there is one
/// rank.
hfta_status hfta_share_bytes(hfta_communicator *communicator, const char *what,
                             void *memory, uint64_t bytes, hfta_error *error);

/// Sends the outcome of something that the first rank did for all: all ranks
/// return its `status`, with its message in the instance. The other ranks'
/// `status` is ignored.
hfta_status hfta_share_outcome(hfta_instance *instance, hfta_status status);

#endif // HFTA_SRC_SCHEDULE_SHARE_STATE_H
