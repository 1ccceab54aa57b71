//===- copy_state.h - The whole state of one copy in memory -----*- C -*-===//
//
// Everything that training changes of a copy: parameters, statistics, the
// optimizer's state, the loss scale and K-FAC's factors. It is what a
// checkpoint holds of the copy. A trial that isn't trained at the moment is
// held as such a state, and any slot can take it over.
//
// With several ranks, each has the tensors of its own workers, so that no rank
// needs another one to put a state away or to take it up again.
//
// Threads: as for the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_COPY_STATE_H
#define HFTA_SRC_TUNING_COPY_STATE_H

#include "hfta/instance.h"

/// Returns the size in bytes of a copy's state on this rank.
uint64_t hfta_copy_state_bytes(const hfta_instance *instance, int64_t copy);

/// Checks that the states of all copies fit each other: their tensors have
/// equal types, shapes and order. Fails with HFTA_UNSUPPORTED if they don't,
/// as for copies of different models.
hfta_status hfta_copy_state_check(hfta_instance *instance);

/// Copy a copy's state to or from `memory`, of hfta_copy_state_bytes bytes.
hfta_status hfta_copy_state_take(hfta_instance *instance, int64_t copy,
                                 void *memory);
hfta_status hfta_copy_state_give(hfta_instance *instance, int64_t copy,
                                 const void *memory);

#endif // HFTA_SRC_TUNING_COPY_STATE_H
