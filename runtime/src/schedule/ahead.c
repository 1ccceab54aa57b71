//===- ahead.c - Steps posted to a device ahead of time -------------------===//

#include "schedule/ahead.h"

#include "schedule/step.h"
#include "schedule/window.h"

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

bool hfta_instance_may_run_ahead(const hfta_instance *instance) {
  const hfta_worker *worker = instance->workers;
  return worker->device->functions->mark && instance->worker_count == 1 &&
         instance->communicator->size == 1 && instance->part_count == 0 &&
         instance->program->arena_bytes == 0 && worker->host_copies.most == 0 &&
         !hfta_instance_takes_windows(instance) &&
         !hfta_instance_preconditions(instance);
}

/// While the widths of turns are searched, the host's waiting is timed; so no
/// step runs ahead until the search has settled.
bool hfta_instance_runs_ahead(const hfta_instance *instance) {
  if (!hfta_instance_may_run_ahead(instance) || instance->has_gradients ||
      instance->has_remains || instance->observer.done)
    return false;
  const hfta_schedule *step =
      hfta_program_find_schedule(instance->program, "step");
  bool is_settled = false;
  if (step)
    hfta_instance_copies_at_once(instance, step, &is_settled);
  return is_settled;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool hfta_instance_lock(hfta_instance *instance, void *memory, uint64_t bytes) {
  hfta_device *device = instance->workers->device;
  return device->functions->lock &&
         device->functions->lock(device, memory, bytes);
}

void hfta_instance_unlock(hfta_instance *instance, void *memory) {
  hfta_device *device = instance->workers->device;
  device->functions->unlock(device, memory);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static const hfta_schedule *find_step(const hfta_worker *worker) {
  return hfta_program_find_stage_schedule(worker->program, "step",
                                          worker->workload.stage);
}

hfta_status hfta_instance_post_step(hfta_instance *instance,
                                    const void *const *inputs) {
  hfta_worker *worker = instance->workers;
  hfta_device *device = worker->device;
  hfta_status status = hfta_instance_set_scalars(instance, /*updates=*/true);
  if (status == HFTA_OK)
    status = hfta_instance_note(instance, worker, hfta_ahead_open(worker));
  if (status != HFTA_OK) {
    hfta_instance_offer(instance, NULL);
    return status;
  }
  hfta_ahead *self = worker->ahead;
  uint32_t number = (uint32_t)(self->posted % HFTA_MOST_POSTED_STEPS);
  hfta_schedule_call call = {.name = "step",
                             .inputs = inputs,
                             .micro_batches = instance->program->micro_batches,
                             .is_posted = true,
                             .images = self->images[number]};
  hfta_ahead_move_images(worker, find_step(worker), call.images,
                         /*to_device=*/true);
  status = hfta_instance_run(instance, &call);
  if (status != HFTA_OK)
    return hfta_instance_spoil_gradients(instance, status);
  device->functions->mark(device, number);
  ++self->posted;
  ++instance->steps;
  return HFTA_OK;
}

/// Discards all posted steps, after waiting until none of them is in flight.
static void give_up(hfta_instance *instance) {
  hfta_ahead *self = instance->workers->ahead;
  hfta_device *device = instance->workers->device;
  hfta_error later;
  device->functions->wait(device, &later);
  hfta_instance_offer(instance, NULL);
  hfta_instance_spoil_gradients(instance, HFTA_OK);
  instance->steps -= self->posted - self->settled;
  self->settled = self->posted;
}

hfta_status hfta_instance_settle_step(hfta_instance *instance, double *losses) {
  hfta_worker *worker = instance->workers;
  hfta_ahead *self = worker->ahead;
  hfta_device *device = worker->device;
  uint32_t number = (uint32_t)(self->settled % HFTA_MOST_POSTED_STEPS);
  hfta_status status =
      device->functions->wait_until(device, number, &instance->error);
  if (status != HFTA_OK) {
    give_up(instance);
    return status;
  }
  ++self->settled;
  hfta_ahead_move_images(worker, find_step(worker), self->images[number],
                         /*to_device=*/false);
  return hfta_instance_get_step(instance, losses);
}
