//===- share_state.h - What the first rank has goes to all ------*- C -*-===//
//
// The first rank alone reads and writes checkpoints, so that the others need no
// folder in common with it. All ranks make these calls in the same order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SHARE_STATE_H
#define HFTA_SRC_SCHEDULE_SHARE_STATE_H

#include "schedule/instance_impl.h"

/// `bytes` at `memory`; nothing where there is one rank.
hfta_status hfta_share_bytes(hfta_communicator *communicator, const char *what,
                             void *memory, uint64_t bytes, hfta_error *error);

/// How it has ended what it did for all: `status`, which is what all return,
/// with its message in the instance. The others' own `status` doesn't count.
hfta_status hfta_share_outcome(hfta_instance *instance, hfta_status status);

#endif // HFTA_SRC_SCHEDULE_SHARE_STATE_H
