//===- ahead_areas.c - The host's memory of posted steps ------------------===//

#include "instance/worker.h"
#include "program/command_records.h"
#include "system/pages.h"

#include <stdlib.h>
#include <string.h>

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

static void release(hfta_ahead *self, hfta_device *device) {
  if (!self)
    return;
  if (self->is_locked)
    device->functions->unlock(device, self->memory);
  hfta_pages_unmap(self->memory, self->bytes);
  for (int i = 0; i < HFTA_MOST_POSTED_STEPS; ++i)
    free(self->images[i]);
  free(self);
}

void hfta_ahead_close(hfta_worker *worker) {
  release(worker->ahead, worker->device);
  worker->ahead = NULL;
}

static bool allocate(hfta_ahead *self, const hfta_worker *worker) {
  hfta_device *device = worker->device;
  uint32_t segments = worker->program->segment_count;
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
  self->is_locked = device->functions->lock &&
                    device->functions->lock(device, self->memory, self->bytes);
  return true;
}

hfta_status hfta_ahead_open(hfta_worker *worker) {
  if (worker->ahead)
    return HFTA_OK;
  hfta_ahead *self = calloc(1, sizeof(*self));
  if (self && allocate(self, worker)) {
    worker->ahead = self;
    return HFTA_OK;
  }
  release(self, worker->device);
  return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                   "not enough memory for steps that the device is given ahead "
                   "of time");
}

void hfta_ahead_move_images(const hfta_worker *worker,
                            const hfta_schedule *schedule, char *const *images,
                            bool to_device) {
  for (uint32_t i = 0; i < schedule->command_count; ++i) {
    const hfta_command *command = &schedule->commands[i];
    const hfta_place *place = to_device ? &command->from : &command->to;
    if (!(to_device ? hfta_command_reads(command, HFTA_SPACE_HOST)
                    : hfta_command_writes(command, HFTA_SPACE_HOST)))
      continue;
    const hfta_segment_memory *memory = &worker->memory[place->index];
    char *area = images[place->index];
    if (area)
      memcpy(to_device ? area : memory->host, to_device ? memory->host : area,
             image_bytes(memory));
  }
}
