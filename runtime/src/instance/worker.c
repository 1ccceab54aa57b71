//===- worker.c - Memory and initial state of a worker --------------------===//

#include "instance/instance_impl.h"

#include <stdlib.h>
#include <string.h>

static hfta_status out_of_memory(hfta_worker *self) {
  return hfta_fail(&self->error, HFTA_UNSUPPORTED,
                   "not enough memory for an instance");
}

static int threads_of(const hfta_worker *self) {
  return self->device->functions->threads(self->device);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Sets the communicators with which the worker exchanges messages.
static void join(hfta_worker *self) {
  const hfta_instance *instance = self->instance;
  self->communicator = instance->communicator;
  if (!instance->group)
    return;
  int64_t number = hfta_worker_number(self);
  self->communicator = hfta_worker_group_stage(instance->group, (int)number);
  self->everyone = hfta_worker_group_all(instance->group, (int)number);
}

hfta_status hfta_worker_open(hfta_worker *self, const hfta_instance *instance,
                             uint32_t index) {
  const hfta_program *program = instance->program;
  size_t segments = program->segment_count, copies = (size_t)program->copies;
  self->instance = instance;
  self->program = program;
  self->workload = hfta_workload_of_worker(program, &instance->workload, index);
  join(self);
  self->memory = calloc(segments + 1, sizeof(*self->memory));
  self->call_bases = calloc(segments + 1, sizeof(void *));
  self->keeps = calloc(segments + 1, sizeof(bool));
  self->chosen = calloc(2 * copies, sizeof(int32_t));
  self->turns = calloc((size_t)program->schedule_count + 1, sizeof(hfta_turns));
  if (!self->memory || !self->call_bases || !self->keeps || !self->chosen ||
      !self->turns)
    return out_of_memory(self);
  hfta_status status = hfta_batches_create(
      &self->batches, hfta_program_field_count(program), &self->error);
  if (status == HFTA_OK)
    status = hfta_share_create(&self->share, program, self->workload.stage,
                               self->workload.rank, self->workload.ranks,
                               &self->error);
  return status;
}

hfta_status hfta_worker_open_device(hfta_worker *self, const char *text,
                                    const hfta_device_options *options) {
  return hfta_device_open(text, options, &self->device, &self->error);
}

/// Waits until the device has done all of its work, which uses memory that is
/// about to be freed. Errors are ignored.
static void wait_for_device(hfta_worker *self) {
  hfta_error ignored;
  if (self->device)
    self->device->functions->wait(self->device, &ignored);
}

void hfta_worker_close(hfta_worker *self, bool keeps_memory) {
  wait_for_device(self);
  hfta_host_copies_close(self);
  if (keeps_memory)
    self->spill.is_lent = true;
  else
    hfta_worker_release_segments(self);
  free(self->memory);
  hfta_spill_close(self);
  hfta_ahead_close(self);
  hfta_device_close(self->device);
  hfta_batches_destroy(&self->batches);
  hfta_sums_destroy(&self->sums_of_groups);
  hfta_broadcasts_destroy(&self->broadcasts);
  hfta_messages_destroy(&self->messages);
  hfta_share_destroy(&self->share);
  free(self->call_bases);
  free(self->keeps);
  free(self->chosen);
  free(self->turns);
}

hfta_status hfta_worker_allocate(hfta_worker *self,
                                 const hfta_store_options *store) {
  hfta_status status = hfta_worker_allocate_segments(self);
  if (self->lacks_memory)
    status = hfta_host_copies_open(self);
  if (status == HFTA_OK && self->program->arena_bytes > 0)
    status = hfta_spill_open(self, store);
  if (status == HFTA_OK)
    status = hfta_sums_create(self);
  if (status == HFTA_OK)
    status = hfta_broadcasts_create(self);
  return status == HFTA_OK ? hfta_messages_create(self) : status;
}

//===----------------------------------------------------------------------===//
// Initial state
//===----------------------------------------------------------------------===//

/// Sets a segment and the host's image of it to the bytes of `segment->image`,
/// or to zeros. `is_new`: the memory is new, and so holds zeros already.
static void reset_segment(hfta_worker *self, uint32_t index, bool is_new) {
  const hfta_segment *segment = &self->program->segments[index];
  hfta_device *device = self->device;
  hfta_segment_memory *memory = &self->memory[index];
  for (uint32_t i = 0; memory->host && i < memory->count; ++i) {
    char *image = memory->host + memory->bytes * i;
    if (segment->image)
      memcpy(image, segment->image, segment->bytes);
    else
      memset(image, 0, memory->bytes);
  }
  // Segments of these roles are written by a task before they are read. They
  // need no zeros and stay untouched, so that they take no physical memory.
  if (segment->bytes == 0 || memory->read_only ||
      segment->role == HFTA_SEGMENT_WORKSPACE ||
      segment->role == HFTA_SEGMENT_SAVED ||
      segment->role == HFTA_SEGMENT_CUT ||
      segment->role == HFTA_SEGMENT_EXCHANGE || (is_new && !segment->image))
    return;
  for (uint32_t i = 0; i < memory->count; ++i)
    if (segment->image)
      device->functions->copy(device, 0, memory->bases[i], segment->image,
                              segment->bytes);
    else
      device->functions->fill(device, 0, memory->bases[i], memory->bytes);
}

void hfta_worker_reset(hfta_worker *self, bool is_new) {
  for (uint32_t i = 0; i < self->program->segment_count; ++i)
    reset_segment(self, i, is_new);
  hfta_spill_reset(self);
  hfta_host_copies_reset(self);
  hfta_batches_forget(&self->batches);
}

void hfta_worker_begin_turns(hfta_worker *self) {
  const hfta_program *program = self->program;
  // Other copies run from now on, so the arena's contents can't be used again.
  // Memory was allocated for the widest turn of all copies; turns of fewer live
  // copies fit.
  hfta_spill_forget(self);
  int64_t most =
      hfta_workload_copies_at_once(program, &self->workload, threads_of(self));
  if (most > self->instance->live_count)
    most = self->instance->live_count;
  for (uint32_t i = 0; i < program->schedule_count; ++i) {
    int64_t widest =
        hfta_schedule_takes_turns(&program->schedules[i]) ? most : 1;
    // Measuring isn't possible in two cases: with stages, since other workers
    // influence how long a call takes; and on a device without room for all
    // copies, since one turn may have fewer copies than another.
    if (self->workload.stage >= 0 || self->host_copies.most > 0)
      hfta_turns_fix(&self->turns[i], widest);
    else
      hfta_turns_begin(&self->turns[i], widest);
  }
}

/// Returns whether segments of this role hold sums, to which micro-batches add
/// until an update uses them.
static bool is_sum(uint32_t role) {
  return role == HFTA_SEGMENT_GRADIENTS || role == HFTA_SEGMENT_MOMENTS;
}

hfta_status hfta_worker_clear_gradients(hfta_worker *self) {
  hfta_device *device = self->device;
  for (uint32_t i = 0; i < self->program->segment_count; ++i)
    for (uint32_t j = 0;
         j < self->memory[i].count && !self->memory[i].read_only; ++j)
      if (is_sum(self->program->segments[i].role))
        device->functions->fill(device, 0, self->memory[i].bases[j],
                                self->memory[i].bytes);
  return device->functions->wait(device, &self->error);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t hfta_worker_number(const hfta_worker *self) {
  return hfta_first_worker(self->program, self->workload.stage) +
         self->workload.rank;
}

int64_t hfta_worker_first_peer(const hfta_worker *self, const hfta_post *post) {
  if (!self->everyone || hfta_messages_have(&self->messages, post))
    return 0;
  return hfta_first_worker(self->program, self->workload.stage);
}
