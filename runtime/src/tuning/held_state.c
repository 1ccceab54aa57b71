//===- held_state.c - A state that several trials may hold ----------------===//

#include "tuning/held_state.h"

#include <stdlib.h>

hfta_held_state *hfta_held_state_create(uint64_t bytes) {
  hfta_held_state *self = malloc(sizeof(*self) + bytes);
  if (self)
    *self = (hfta_held_state){.references = 1, .bytes = bytes};
  return self;
}

hfta_held_state *hfta_held_state_share(hfta_held_state *self) {
  if (self)
    ++self->references;
  return self;
}

void hfta_held_state_drop(hfta_held_state **place) {
  if (*place && --(*place)->references == 0)
    free(*place);
  *place = NULL;
}
