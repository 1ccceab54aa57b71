//===- worker_memory.c - The segments of a worker -------------------------===//

#include "instance/instance_impl.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// Returns whether a segment of constants is used in place, in the program's
/// image. It is if the device can read the host's memory and the image is
/// aligned.
static bool use_image(const hfta_worker *self, const hfta_segment *segment) {
  if (segment->role != HFTA_SEGMENT_CONSTANTS || !segment->image)
    return false;
  uint64_t alignment = segment->alignment ? segment->alignment : 1;
  void *image = (void *)(uintptr_t)segment->image;
  return (uintptr_t)image % alignment == 0 &&
         self->device->functions->host_address(self->device, image);
}

static hfta_status allocate_segment(hfta_worker *self, uint32_t index) {
  const hfta_program *program = self->program;
  const hfta_segment *segment = &program->segments[index];
  hfta_segment_memory *memory = &self->memory[index];
  if (segment->role == HFTA_SEGMENT_SCRATCH ||
      !hfta_workload_needs(program, &self->workload, index))
    return HFTA_OK;
  uint32_t count = hfta_workload_instances(program, &self->workload, index);
  memory->bytes = hfta_workload_segment_bytes(
      program, &self->workload, index,
      self->device->functions->threads(self->device));
  memory->bases = calloc(count, sizeof(*memory->bases));
  bool has_image = hfta_segment_has_image(program, index);
  if (has_image)
    memory->host = calloc(count, memory->bytes + 1);
  if (!memory->bases || (!memory->host && has_image))
    return hfta_fail(&self->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  if (segment->residency != HFTA_RESIDENT) {
    memory->count = count;
    memory->read_only = 1;
    return HFTA_OK;
  }
  if (use_image(self, segment)) {
    memory->count = 1;
    memory->read_only = 1;
    memory->bases[0] = (void *)(uintptr_t)segment->image;
    return HFTA_OK;
  }
  for (uint32_t i = 0; i < count; ++i) {
    hfta_error reason;
    hfta_status status = self->device->functions->allocate(
        self->device, memory->bytes, segment->alignment, &memory->bases[i],
        &reason);
    // A kind of device that can page-lock host memory has memory of its own,
    // which is full if this allocation fails. Only then can copies wait in the
    // host's memory.
    self->lacks_memory =
        status == HFTA_UNSUPPORTED && self->device->functions->lock;
    if (status != HFTA_OK)
      return hfta_fail(&self->error, status, "segment '%s': %s", segment->name,
                       reason.message);
    memory->count = i + 1;
  }
  return HFTA_OK;
}

/// Allocates the memory that the device itself needs to run the workload's
/// tasks, if it needs any.
static hfta_status reserve(hfta_worker *self) {
  const hfta_device_functions *functions = self->device->functions;
  if (!functions->reserve)
    return HFTA_OK;
  int64_t copies = hfta_workload_most_copies(&self->workload);
  hfta_status status = functions->reserve(self->device, copies, &self->error);
  self->lacks_memory = status == HFTA_UNSUPPORTED && functions->lock;
  return status;
}

hfta_status hfta_worker_allocate_segments(hfta_worker *self) {
  self->lacks_memory = false;
  hfta_status status = reserve(self);
  for (uint32_t i = 0; i < self->program->segment_count && status == HFTA_OK;
       ++i)
    status = allocate_segment(self, i);
  return status;
}

void hfta_worker_release_segments(hfta_worker *self) {
  for (uint32_t s = 0; self->memory && s < self->program->segment_count; ++s) {
    hfta_segment_memory *memory = &self->memory[s];
    for (uint32_t i = 0; i < memory->count && !memory->read_only; ++i)
      self->device->functions->release(self->device, memory->bases[i],
                                       memory->bytes);
    free(memory->bases);
    free(memory->host);
    *memory = (hfta_segment_memory){.count = 0};
  }
}

//===----------------------------------------------------------------------===//
// Numbers and addresses
//===----------------------------------------------------------------------===//

int64_t hfta_worker_instance(const hfta_worker *self, uint32_t segment,
                             int64_t place, int64_t number) {
  switch (self->program->segments[segment].role) {
  case HFTA_SEGMENT_INPUT:
    return place + self->batches.first;
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_MOMENTS:
  case HFTA_SEGMENT_RESULTS:
    return self->share.group_of[place];
  case HFTA_SEGMENT_SCALARS:
  case HFTA_SEGMENT_EXCHANGE:
    return number;
  default:
    return place;
  }
}

char *hfta_worker_address(const hfta_worker *self, uint32_t tensor,
                          int64_t copy) {
  const hfta_tensor *entry = &self->program->tensors[tensor];
  char *base = self->memory[entry->segment].bases[0];
  return base + hfta_tensor_offset(self->program, entry, copy);
}

char *hfta_worker_image(const hfta_worker *self, uint32_t tensor, int64_t copy,
                        int64_t number) {
  if (tensor == UINT32_MAX)
    return NULL;
  const hfta_tensor *entry = &self->program->tensors[tensor];
  const hfta_segment_memory *memory = &self->memory[entry->segment];
  if (!memory->host)
    return NULL;
  return memory->host + memory->bytes * (uint64_t)(number % memory->count) +
         hfta_tensor_offset(self->program, entry, copy);
}
