//===- host_copies.c - Copies that aren't on the device -------------------===//

#include "instance/host_copies.h"

#include "instance/instance_impl.h"
#include "system/memory_limit.h"
#include "system/pages.h"
#include "workload/memory_plan.h"

#include <stdlib.h>
#include <string.h>

static const hfta_segment *segment_of(const hfta_worker *worker,
                                      uint32_t index) {
  return &worker->program->segments[index];
}

/// Returns the address of a copy's slab in the host's slabs of a segment.
static char *find_slab(const hfta_worker *worker, uint32_t index,
                       int64_t copy) {
  return worker->host_copies.slabs[index] +
         segment_of(worker, index)->copy_bytes *
             (uint64_t)(copy - worker->workload.first_copy);
}

bool hfta_host_copies_have(const hfta_worker *worker, uint32_t segment) {
  return worker->host_copies.most > 0 && worker->host_copies.slabs[segment];
}

bool hfta_host_copies_hold(const hfta_worker *worker, uint32_t segment,
                           const void *memory) {
  const char *at = memory;
  if (!hfta_host_copies_have(worker, segment))
    return false;
  const char *begin = worker->host_copies.slabs[segment];
  return at >= begin && at < begin + segment_of(worker, segment)->copy_bytes *
                                         (uint64_t)worker->workload.copies;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// One 32nd of the memory that the copies on the device need must stay free
/// beside it, for what the driver allocates while the program runs, such as
/// graphs.
enum { FREE_PART = 32 };

/// Returns the bytes that the device needs for `slabs` copies at a time.
static uint64_t device_bytes(const hfta_worker *worker, int64_t slabs) {
  hfta_workload own = worker->workload;
  own.slabs = slabs;
  return hfta_workload_device_bytes(worker->program, &own);
}

/// Fails with the worker's message, which says what there was no room for,
/// extended by the needs of one copy and advice. `obstacle` names what prevents
/// copies from taking turns; NULL: nothing does.
static hfta_status fail_room(hfta_worker *worker, const char *obstacle) {
  unsigned long long bytes = device_bytes(worker, 1);
  bool takes_turns = worker->instance->workload.takes_turns;
  if (takes_turns && !obstacle)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "%s; one copy alone needs %llu bytes: make batches "
                     "smaller",
                     worker->error.message, bytes);
  return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                   "%s; one copy alone needs %llu bytes, but copies can't take "
                   "turns %s%s: train fewer copies in one program, or make "
                   "batches smaller",
                   worker->error.message, bytes,
                   takes_turns ? "because of " : "in a library",
                   takes_turns ? obstacle : "");
}

/// Checks, by allocating it for a moment, that the device has room for memory
/// that may be needed later.
static hfta_status leave_room(hfta_worker *worker, int64_t slabs) {
  hfta_device *device = worker->device;
  uint64_t bytes = device_bytes(worker, slabs) / FREE_PART;
  void *memory = NULL;
  hfta_status status =
      device->functions->allocate(device, bytes, 1, &memory, &worker->error);
  worker->lacks_memory = status == HFTA_UNSUPPORTED;
  device->functions->release(device, memory, bytes);
  return status;
}

/// Allocates the segments anew, with `slabs` slabs each.
static hfta_status try_slabs(hfta_worker *worker, int64_t slabs) {
  hfta_worker_release_segments(worker);
  worker->workload.slabs = slabs;
  hfta_status status = hfta_worker_allocate_segments(worker);
  return status == HFTA_OK && slabs > 1 ? leave_room(worker, slabs) : status;
}

/// Finds the largest number of slabs that fits: as many as a turn has copies if
/// all copies make one turn, else two turns, and so on.
static hfta_status choose_slabs(hfta_worker *worker) {
  int64_t copies = worker->workload.copies, tried = worker->program->copies;
  hfta_status status = HFTA_UNSUPPORTED;
  for (int64_t turns = 1; turns <= copies && worker->lacks_memory; ++turns) {
    int64_t slabs = (copies + turns - 1) / turns;
    if (slabs < tried)
      status = try_slabs(worker, slabs);
    tried = slabs < tried ? slabs : tried;
  }
  return worker->lacks_memory ? fail_room(worker, NULL) : status;
}

/// Returns the bytes of the host's slabs of a segment, for all copies of the
/// workload.
static uint64_t host_bytes(const hfta_worker *worker, uint32_t index) {
  return hfta_workload_waiting_bytes(worker->program, &worker->workload,
                                     index) *
         (uint64_t)worker->workload.copies;
}

/// Checks the limit of the host's memory in advance. The system provides memory
/// only when it is touched; a program that uses too much would be killed much
/// later, without a message.
static hfta_status check_host_memory(hfta_worker *worker) {
  uint64_t bytes = 0, limit = hfta_memory_limit();
  for (uint32_t i = 0; i < worker->program->segment_count; ++i)
    bytes += host_bytes(worker, i);
  if (bytes <= limit)
    return HFTA_OK;
  return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                   "copies take turns on the device, and those that wait need "
                   "%llu bytes of memory and may have %llu here: train fewer "
                   "copies in one program",
                   (unsigned long long)bytes, (unsigned long long)limit);
}

static hfta_status allocate(hfta_worker *worker) {
  const hfta_program *program = worker->program;
  hfta_host_copies *self = &worker->host_copies;
  hfta_device *device = worker->device;
  size_t segments = (size_t)program->segment_count + 1;
  self->slabs = calloc(segments, sizeof(*self->slabs));
  self->is_locked = calloc(segments, sizeof(bool));
  self->present = calloc((size_t)program->copies, sizeof(*self->present));
  self->keeps = calloc(segments, sizeof(bool));
  bool is_whole =
      self->slabs && self->is_locked && self->present && self->keeps;
  for (uint32_t i = 0; is_whole && i < program->segment_count; ++i) {
    uint64_t bytes = host_bytes(worker, i);
    if (bytes == 0)
      continue;
    self->slabs[i] = hfta_pages_map(bytes, 1);
    is_whole = self->slabs[i] != NULL;
    self->is_locked[i] =
        is_whole && device->functions->lock(device, self->slabs[i], bytes);
  }
  return is_whole ? HFTA_OK
                  : hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                              "not enough memory for copies that wait for "
                              "their turn on the device");
}

hfta_status hfta_host_copies_open(hfta_worker *worker) {
  bool takes_turns = worker->instance->workload.takes_turns;
  const char *obstacle =
      hfta_workload_find_common(worker->program, &worker->workload);
  if (!takes_turns || obstacle)
    return fail_room(worker, obstacle);
  hfta_status status = choose_slabs(worker);
  if (status == HFTA_OK)
    status = check_host_memory(worker);
  if (status != HFTA_OK)
    return status;
  worker->host_copies.most = worker->workload.slabs;
  return allocate(worker);
}

void hfta_host_copies_close(hfta_worker *worker) {
  hfta_host_copies *self = &worker->host_copies;
  for (uint32_t i = 0; self->slabs && i < worker->program->segment_count; ++i) {
    if (self->is_locked && self->is_locked[i])
      worker->device->functions->unlock(worker->device, self->slabs[i]);
    hfta_pages_unmap(self->slabs[i], host_bytes(worker, i));
  }
  free(self->slabs);
  free(self->is_locked);
  free(self->present);
  free(self->keeps);
}

void hfta_host_copies_reset(hfta_worker *worker) {
  hfta_host_copies *self = &worker->host_copies;
  for (uint32_t i = 0; self->most > 0 && i < worker->program->segment_count;
       ++i)
    if (self->slabs[i])
      memset(self->slabs[i], 0, host_bytes(worker, i));
  self->present_count = 0;
  self->is_changed = self->is_lost = false;
}

//===----------------------------------------------------------------------===//
// To the device and back
//===----------------------------------------------------------------------===//

/// Copies the slabs of one segment to the device or back, for the present
/// copies. Slabs of consecutive copies are copied together.
static void move_segment(hfta_worker *worker, uint32_t index, bool to_device) {
  const hfta_host_copies *self = &worker->host_copies;
  hfta_device *device = worker->device;
  uint64_t slab = segment_of(worker, index)->copy_bytes;
  int64_t end;
  for (int64_t begin = 0; begin < self->present_count; begin = end) {
    end = begin + 1;
    while (end < self->present_count &&
           self->present[end] == self->present[end - 1] + 1)
      ++end;
    char *host = find_slab(worker, index, self->present[begin]);
    char *own = (char *)worker->memory[index].bases[0] + slab * (uint64_t)begin;
    device->functions->copy(device, 0, to_device ? own : host,
                            to_device ? host : own,
                            slab * (uint64_t)(end - begin));
  }
}

static void move(hfta_worker *worker, bool to_device) {
  for (uint32_t i = 0; i < worker->program->segment_count; ++i)
    if (worker->host_copies.slabs[i])
      move_segment(worker, i, to_device);
  worker->host_copies.is_changed = false;
}

void hfta_host_copies_bring(hfta_worker *worker, const int32_t *copies,
                            int64_t count) {
  hfta_host_copies *self = &worker->host_copies;
  size_t bytes = sizeof(*copies) * (size_t)count;
  if (self->most == 0 || (count == self->present_count &&
                          memcmp(copies, self->present, bytes) == 0))
    return;
  if (self->is_changed)
    move(worker, false);
  memcpy(self->present, copies, bytes);
  self->present_count = count;
  move(worker, true);
}

void hfta_host_copies_write(hfta_worker *worker, uint32_t segment) {
  if (hfta_host_copies_have(worker, segment))
    worker->host_copies.is_changed = true;
}

void hfta_host_copies_lose(hfta_worker *worker) {
  worker->host_copies.is_lost = worker->host_copies.most > 0;
}

hfta_status hfta_host_copies_find(hfta_worker *worker, uint32_t tensor,
                                  int64_t copy, bool writes, char **out) {
  const hfta_tensor *row = &worker->program->tensors[tensor];
  hfta_host_copies *self = &worker->host_copies;
  hfta_device *device = worker->device;
  if (self->is_changed)
    move(worker, false);
  hfta_status status = device->functions->wait(device, &worker->error);
  if (status != HFTA_OK)
    self->is_lost = true;
  else if (self->is_lost)
    status = hfta_fail(&worker->error, HFTA_INTERNAL,
                       "the copies' data on the device are lost, as a call of "
                       "the device has failed");
  if (writes)
    self->present_count = 0;
  *out = find_slab(worker, row->segment, copy) + row->offset;
  return status;
}
