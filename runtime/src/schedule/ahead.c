//===- ahead.c - Steps posted to a device ahead of time -------------------===//

#include "schedule/ahead.h"

#include "instance/instance_impl.h"
#include "schedule/window.h"
#include "system/pages.h"

#include <stdlib.h>
#include <string.h>

/// The state of posted steps. The n-th posted step, from 0, uses area and mark
/// number n % HFTA_MOST_POSTED_STEPS.
struct hfta_ahead {
  char *memory; ///< the memory of all areas, in pages of its own
  uint64_t bytes;
  bool is_locked;
  char **images[HFTA_MOST_POSTED_STEPS]; ///< for each area and segment, the
                                         ///< image's address; NULL: the segment
                                         ///< has no image
  int64_t posted, settled; ///< how many steps were posted, and how many settled
};

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
// Areas
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

/// Returns the bytes of the host's image of all instances of a segment; 0 if
/// the host has none.
static uint64_t image_bytes(const hfta_segment_memory *memory) {
  return memory->host ? memory->bytes * memory->count : 0;
}

/// Returns image_bytes, rounded up to a multiple of 64 bytes, at which images
/// in an area begin.
static uint64_t padded_image_bytes(const hfta_segment_memory *memory) {
  return (image_bytes(memory) + 63) / 64 * 64;
}

void hfta_ahead_free(hfta_ahead *self, hfta_device *device) {
  if (!self)
    return;
  if (self->is_locked)
    device->functions->unlock(device, self->memory);
  hfta_pages_unmap(self->memory, self->bytes);
  for (int i = 0; i < HFTA_MOST_POSTED_STEPS; ++i)
    free(self->images[i]);
  free(self);
}

static bool allocate(hfta_ahead *self, hfta_instance *instance) {
  const hfta_worker *worker = instance->workers;
  uint32_t segments = instance->program->segment_count;
  uint64_t area = 0, at = 0;
  for (uint32_t i = 0; i < segments; ++i)
    area += padded_image_bytes(&worker->memory[i]);
  self->bytes = HFTA_MOST_POSTED_STEPS * area + 1;
  self->memory = hfta_pages_map(self->bytes, 1);
  if (!self->memory)
    return false;
  for (int j = 0; j < HFTA_MOST_POSTED_STEPS; ++j) {
    self->images[j] = calloc((size_t)segments + 1, sizeof(char *));
    for (uint32_t i = 0; self->images[j] && i < segments; ++i) {
      if (worker->memory[i].host)
        self->images[j][i] = self->memory + at;
      at += padded_image_bytes(&worker->memory[i]);
    }
    if (!self->images[j])
      return false;
  }
  self->is_locked = hfta_instance_lock(instance, self->memory, self->bytes);
  return true;
}

static hfta_status open_areas(hfta_instance *instance) {
  hfta_worker *worker = instance->workers;
  if (worker->ahead)
    return HFTA_OK;
  hfta_ahead *self = calloc(1, sizeof(*self));
  if (self && allocate(self, instance)) {
    worker->ahead = self;
    return HFTA_OK;
  }
  hfta_ahead_free(self, worker->device);
  return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                   "not enough memory for steps that the device is given ahead "
                   "of time");
}

/// With `to_device`, copies the images from which the schedule transfers bytes
/// to the device into an area (`images`); otherwise copies the images that it
/// has written out of the area.
static void move_images(const hfta_worker *worker,
                        const hfta_schedule *schedule, char *const *images,
                        bool to_device) {
  for (uint32_t i = 0; i < schedule->command_count; ++i) {
    const hfta_command *command = &schedule->commands[i];
    const hfta_place *place = to_device ? &command->from : &command->to;
    if (command->kind != HFTA_COMMAND_TRANSFER ||
        place->space != HFTA_SPACE_HOST)
      continue;
    const hfta_segment_memory *memory = &worker->memory[place->index];
    char *area = images[place->index];
    if (area)
      memcpy(to_device ? area : memory->host, to_device ? memory->host : area,
             image_bytes(memory));
  }
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
    status = open_areas(instance);
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
  move_images(worker, find_step(worker), call.images, /*to_device=*/true);
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
  move_images(worker, find_step(worker), self->images[number],
              /*to_device=*/false);
  return hfta_instance_get_step(instance, losses);
}
