//===- share_state.h - Sends the first rank's data to all ranks ---*- C -*-===//
//
// Only rank 0 reads and writes checkpoints, so that the other ranks need no
// access to the folder. All ranks must make these calls in the same order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_SHARE_STATE_H
#define HFTA_SRC_INSTANCE_SHARE_STATE_H

#include "instance/instance_impl.h"

/// Broadcasts `bytes` bytes from rank 0's `memory` to that of all other ranks;
/// does nothing if there is one rank. `what` names the bytes in error messages.
hfta_status hfta_share_bytes(hfta_communicator *communicator, const char *what,
                             void *memory, uint64_t bytes, hfta_error *error);

/// Broadcasts the outcome of something that rank 0 did for all ranks: all
/// return rank 0's `status`, and their instances get its error message. The
/// `status` of other ranks is ignored.
hfta_status hfta_share_outcome(hfta_instance *instance, hfta_status status);

#endif // HFTA_SRC_INSTANCE_SHARE_STATE_H
