//===- share_state.c - Sends the first rank's data to all ranks -----------===//

#include "instance/share_state.h"

#include "communicator/tags.h"

hfta_status hfta_share_bytes(hfta_communicator *communicator, const char *what,
                             void *memory, uint64_t bytes, hfta_error *error) {
  if (communicator->size == 1)
    return HFTA_OK;
  hfta_label label = {what, -1, HFTA_TAG_STATE};
  hfta_posted *posted;
  hfta_status status = hfta_communicator_post_broadcast(
      communicator, &label, /*root=*/0, memory, bytes, &posted, error);
  return status == HFTA_OK ? hfta_communicator_wait(communicator, posted, error)
                           : status;
}

hfta_status hfta_share_outcome(hfta_instance *instance, hfta_status status) {
  hfta_error outcome = {0};
  if (status != HFTA_OK)
    outcome = instance->error;
  outcome.code = status;
  status = hfta_share_bytes(instance->communicator, "the first rank's outcome",
                            &outcome, sizeof(outcome), &instance->error);
  if (status == HFTA_OK && outcome.code != HFTA_OK)
    instance->error = outcome;
  return status == HFTA_OK ? outcome.code : status;
}
