//===- held_state.h - A state that several trials may hold ------*- C -*-===//
//
// A copy's state after a number of steps, which isn't changed any more. A trial
// that clones another one holds the same object until it is trained further.
//
// Threads: one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_HELD_STATE_H
#define HFTA_SRC_TUNING_HELD_STATE_H

#include "hfta/checkpoint.h"

typedef struct hfta_held_state {
  int64_t references;
  int64_t steps; ///< steps that its trial had done
  hfta_epoch_losses epoch_losses;
  uint64_t bytes;
  char data[]; ///< as hfta_copy_state_take writes it
} hfta_held_state;

/// Makes a state with room for `bytes` bytes and one reference; NULL if there
/// isn't enough memory.
hfta_held_state *hfta_held_state_create(uint64_t bytes);

/// Adds a reference, and returns the state. NULL is allowed.
hfta_held_state *hfta_held_state_share(hfta_held_state *self);

/// Drops the reference in `*place`, frees the state if it was the last one, and
/// sets `*place` to NULL. A `*place` of NULL is allowed.
void hfta_held_state_drop(hfta_held_state **place);

#endif // HFTA_SRC_TUNING_HELD_STATE_H
