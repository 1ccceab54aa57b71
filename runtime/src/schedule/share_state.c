//===- share_state.c - What the first rank has goes to all ----------------===//

#include "schedule/share_state.h"

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

static bool is_state(uint32_t role) {
  return role == HFTA_SEGMENT_PARAMETERS ||
         role == HFTA_SEGMENT_OPTIMIZER_STATE ||
         role == HFTA_SEGMENT_STATISTICS;
}

hfta_status hfta_share_state(hfta_instance *instance, hfta_error *error) {
  const hfta_program *program = instance->program;
  const hfta_worker *worker = instance->workers;
  hfta_device *device = worker->device;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->segment_count && status == HFTA_OK; ++i) {
    const hfta_segment_memory *memory = &worker->memory[i];
    if (!is_state(program->segments[i].role) || memory->count == 0)
      continue;
    void *host = device->functions->host_address(device, memory->bases[0]);
    if (!host)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "a device whose memory the host can't address doesn't "
                       "resume on several ranks");
    status = hfta_share_bytes(instance->communicator, program->segments[i].name,
                              host, memory->bytes, error);
  }
  if (status == HFTA_OK)
    status = hfta_instance_clear_gradients(instance);
  return status;
}
