//===- spill.c - A worker's arena and store -------------------------------===//

#include "instance/worker.h"
#include "program/fetches.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

static const hfta_segment *segment_of(const hfta_worker *worker,
                                      uint32_t index) {
  return &worker->program->segments[index];
}

/// Returns the number of extents of one instance of a segment: one per copy if
/// it has slabs, else one.
static uint64_t extents_of(const hfta_worker *worker, uint32_t index) {
  return segment_of(worker, index)->copy_bytes
             ? (uint64_t)worker->program->copies
             : 1;
}

static uint64_t extent_of(const hfta_worker *worker, uint32_t index,
                          int64_t instance, int64_t copy) {
  uint64_t count = extents_of(worker, index);
  return worker->spill.extents[index] + (uint64_t)instance * count +
         (count > 1 ? (uint64_t)copy : 0);
}

uint32_t hfta_spill_find_segment(const hfta_worker *worker, uint64_t extent) {
  for (uint32_t i = 0; i < worker->program->segment_count; ++i) {
    uint64_t count = extents_of(worker, i) * worker->memory[i].count;
    if (worker->spill.extents && worker->spill.extents[i] <= extent &&
        extent - worker->spill.extents[i] < count)
      return i;
  }
  return UINT32_MAX;
}

static bool is_spilled(const hfta_worker *worker, uint32_t index) {
  return segment_of(worker, index)->residency == HFTA_SPILLED &&
         worker->memory[index].count > 0;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static hfta_status out_of_memory(hfta_worker *worker) {
  return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                   "not enough memory for what is spilled");
}

static hfta_status open_store(hfta_worker *worker,
                              const hfta_store_options *options) {
  const hfta_program *program = worker->program;
  hfta_spilled_extents all =
      hfta_workload_spills(program, &worker->workload, NULL);
  if (all.count == 0)
    return HFTA_OK;
  uint64_t *bytes = calloc(all.count, sizeof(*bytes));
  if (!bytes)
    return out_of_memory(worker);
  hfta_workload_spills(program, &worker->workload, bytes);
  hfta_store_options own = *options;
  own.extents = bytes;
  own.extent_count = all.count;
  hfta_status status =
      hfta_store_open(&own, &worker->spill.store, &worker->error);
  free(bytes);
  return status;
}

static hfta_status open_arena(hfta_worker *worker) {
  hfta_error reason;
  void *arena = NULL;
  uint64_t bytes =
      hfta_workload_arena_bytes(worker->program, &worker->workload);
  const hfta_seat *seat = worker->workload.seat;
  worker->spill.is_lent = seat != NULL;
  worker->spill.arena_bytes = bytes;
  if (seat) {
    worker->spill.arena = seat->arena;
    return HFTA_OK;
  }
  hfta_status status = worker->device->functions->allocate(
      worker->device, bytes, HFTA_PAGE_BYTES, &arena, &reason);
  if (status != HFTA_OK)
    return hfta_fail(&worker->error, status, "arena: %s", reason.message);
  worker->spill.arena = arena;
  return HFTA_OK;
}

hfta_status hfta_spill_open(hfta_worker *worker,
                            const hfta_store_options *options) {
  const hfta_program *program = worker->program;
  hfta_spill *self = &worker->spill;
  uint64_t extents = 0;
  self->extents = calloc((size_t)program->segment_count + 1, sizeof(uint64_t));
  self->firsts = calloc((size_t)program->segment_count + 1, sizeof(uint32_t));
  if (!self->extents || !self->firsts)
    return out_of_memory(worker);
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    self->extents[i] = UINT64_MAX;
    self->firsts[i] = self->held_count;
    if (segment_of(worker, i)->residency == HFTA_RESIDENT)
      continue;
    self->held_count += worker->memory[i].count;
    if (!is_spilled(worker, i))
      continue;
    self->extents[i] = extents;
    extents += extents_of(worker, i) * worker->memory[i].count;
  }
  self->held = calloc((size_t)self->held_count + 1, sizeof(*self->held));
  self->coming = calloc((size_t)self->held_count + 1, sizeof(*self->coming));
  if (!self->held || !self->coming)
    return out_of_memory(worker);
  hfta_status status = open_arena(worker);
  return status == HFTA_OK ? open_store(worker, options) : status;
}

void hfta_spill_close(hfta_worker *worker) {
  hfta_spill *self = &worker->spill;
  if (self->arena && !self->is_lent)
    worker->device->functions->release(worker->device, self->arena,
                                       self->arena_bytes);
  hfta_store_close(self->store);
  free(self->extents);
  free(self->firsts);
  free(self->held);
  free(self->coming);
}

void hfta_spill_forget(hfta_worker *worker) {
  for (uint32_t i = 0; i < worker->spill.held_count; ++i)
    worker->spill.held[i].at = worker->spill.coming[i].at = NULL;
}

void hfta_spill_sit(hfta_worker *worker, const hfta_seat *seat) {
  hfta_spill *self = &worker->spill;
  if (worker->program->arena_bytes == 0)
    return;
  if (self->arena != seat->arena || seat->is_used)
    hfta_spill_forget(worker);
  self->arena = seat->arena;
}

void hfta_spill_settle(hfta_worker *worker) {
  for (uint32_t i = 0; i < worker->spill.held_count; ++i)
    worker->spill.held[i].queue = HFTA_NO_QUEUE;
}

void hfta_spill_reset(hfta_worker *worker) {
  hfta_spill_forget(worker);
  if (worker->spill.store)
    hfta_store_forget(worker->spill.store);
}

//===----------------------------------------------------------------------===//
// Contents of the arena
//===----------------------------------------------------------------------===//

static hfta_held *find_held(const hfta_worker *worker, uint32_t segment,
                            int64_t instance) {
  return &worker->spill.held[worker->spill.firsts[segment] + instance];
}

static void overwrite_one(hfta_held *other, const hfta_held *own) {
  if (other != own && other->at && other->at < own->at + own->bytes &&
      own->at < other->at + other->bytes)
    other->at = NULL;
}

/// Marks the contents of other places that overlap with this one as lost.
static void overwrite(hfta_worker *worker, const hfta_held *own) {
  for (uint32_t i = 0; i < worker->spill.held_count; ++i) {
    overwrite_one(&worker->spill.held[i], own);
    overwrite_one(&worker->spill.coming[i], own);
  }
}

void hfta_spill_write(hfta_worker *worker, uint32_t segment, int64_t instance) {
  if (segment_of(worker, segment)->residency != HFTA_RESIDENT)
    find_held(worker, segment, instance)->is_clean = false;
}

uint64_t hfta_spill_offset(const hfta_worker *worker, uint32_t segment,
                           int64_t instance, int64_t first) {
  const hfta_segment *row = segment_of(worker, segment);
  if (row->residency == HFTA_RESIDENT || worker->keeps[segment])
    return 0;
  const hfta_held *held = find_held(worker, segment, instance);
  return row->copy_bytes * (uint64_t)(first - held->first);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// A range of slabs that is contiguous both in memory and in the store.
typedef struct stretch {
  uint64_t extent, count;
  uint64_t offset, bytes; // relative to the place of the segment's instance
} stretch;

/// Finds the stretch that begins with the copy at `*index` in the moment's
/// list, and advances `*index` past it. A segment without slabs is a single
/// stretch. Returns false at the end of the list.
static bool next_stretch(const hfta_worker *worker, uint32_t segment,
                         const hfta_spill_moment *moment, int64_t *index,
                         stretch *out) {
  const hfta_segment *row = segment_of(worker, segment);
  int64_t begin = *index, end = begin + 1;
  if (row->copy_bytes == 0) {
    *index = 1;
    *out = (stretch){extent_of(worker, segment, moment->instance, 0), 1, 0,
                     row->bytes};
    return begin == 0;
  }
  if (begin >= moment->copy_count)
    return false;
  const int32_t *copies = moment->copies;
  while (end < moment->copy_count && copies[end] == copies[end - 1] + 1)
    ++end;
  int64_t place = worker->keeps[segment] ? copies[begin] : begin;
  uint64_t count = (uint64_t)(end - begin);
  *out = (stretch){extent_of(worker, segment, moment->instance, copies[begin]),
                   count, row->copy_bytes * (uint64_t)place,
                   row->copy_bytes * count};
  *index = end;
  return true;
}

/// Returns the place in the arena that a FETCH gives to the instance of its
/// segment.
static hfta_held make_place(const hfta_worker *worker,
                            const hfta_command *command,
                            const hfta_spill_moment *moment) {
  uint64_t bytes = hfta_fetched_bytes(worker->program, moment->schedule,
                                      command->to.index, moment->turn_copies);
  uint64_t place = (uint64_t)moment->instance % command->bytes;
  return (hfta_held){.at = worker->spill.arena + command->from.offset +
                           place * bytes,
                     .bytes = bytes,
                     .first = moment->first,
                     .copies = moment->copy_count,
                     .is_clean = command->subject == HFTA_CONTENTS_STORED,
                     .queue = command->queue};
}

/// Returns whether a place already holds the wanted contents, so that they need
/// not be read from the store again. Contents that another queue than the
/// wanted one may still be reading don't count: tasks will wait only for the
/// wanted queue.
static bool lies_there(const hfta_held *held, const hfta_held *wanted) {
  return held->at == wanted->at && held->bytes == wanted->bytes &&
         held->first == wanted->first && held->copies == wanted->copies &&
         held->is_clean &&
         (held->queue == HFTA_NO_QUEUE || held->queue == wanted->queue);
}

void hfta_spill_fetch(hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment) {
  hfta_device *device = worker->device;
  uint32_t segment = command->to.index;
  hfta_held *held = find_held(worker, segment, moment->instance);
  hfta_held *coming = &worker->spill.coming[held - worker->spill.held];
  hfta_held wanted = make_place(worker, command, moment);
  if (moment->is_ahead)
    held = coming;
  else if (lies_there(coming, &wanted))
    *held = *coming;
  bool lies =
      command->subject == HFTA_CONTENTS_STORED && lies_there(held, &wanted);
  if (!moment->is_ahead)
    worker->memory[segment].bases[moment->instance] = wanted.at;
  if (!lies)
    *held = wanted;
  overwrite(worker, held);
  if (lies || command->subject == HFTA_CONTENTS_UNDEFINED)
    return;
  // The whole place is filled, even if the last turn has fewer copies: an
  // all-reduce adds up whole places.
  if (command->subject == HFTA_CONTENTS_ZEROS) {
    device->functions->fill(device, command->queue, wanted.at, wanted.bytes);
    return;
  }
  stretch part;
  for (int64_t i = 0; next_stretch(worker, segment, moment, &i, &part);)
    device->functions->fetch(device, command->queue, worker->spill.store,
                             part.extent, part.count, wanted.at + part.offset,
                             part.bytes);
}

void hfta_spill_evict(hfta_worker *worker, const hfta_command *command,
                      const hfta_spill_moment *moment) {
  hfta_device *device = worker->device;
  uint32_t segment = command->to.index;
  const char *at = worker->memory[segment].bases[moment->instance];
  if (!at)
    return;
  // The tasks that wrote the contents had waited for the FETCH, so no queue is
  // reading them any more.
  hfta_held *held = find_held(worker, segment, moment->instance);
  held->is_clean = true;
  held->queue = HFTA_NO_QUEUE;
  stretch part;
  for (int64_t i = 0; next_stretch(worker, segment, moment, &i, &part);)
    device->functions->evict(device, command->queue, worker->spill.store,
                             part.extent, part.count, at + part.offset,
                             part.bytes);
}

void hfta_spill_drop(hfta_worker *worker, const hfta_command *command,
                     const hfta_spill_moment *moment) {
  worker->memory[command->to.index].bases[moment->instance] = NULL;
}

void hfta_spill_wait(hfta_worker *worker) {
  hfta_spill *self = &worker->spill;
  if (!self->waits || self->failure != HFTA_OK)
    return;
  self->failure =
      worker->device->functions->wait(worker->device, &worker->error);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Returns the offset in bytes of a copy's tensor in its extent.
static uint64_t begin_of(const hfta_worker *worker, const hfta_tensor *tensor,
                         int64_t copy) {
  bool has_slabs = segment_of(worker, tensor->segment)->copy_bytes > 0;
  return tensor->offset +
         (has_slabs ? 0 : tensor->copy_stride * (uint64_t)copy);
}

hfta_status hfta_spill_read_tensor(hfta_worker *worker, uint32_t tensor,
                                   int64_t copy, uint64_t offset, void *to,
                                   uint64_t bytes, hfta_error *error) {
  const hfta_tensor *row = &worker->program->tensors[tensor];
  return hfta_store_read_bytes(
      worker->spill.store, extent_of(worker, row->segment, 0, copy),
      begin_of(worker, row, copy) + offset, to, bytes, error);
}

hfta_status hfta_spill_write_tensor(hfta_worker *worker, uint32_t tensor,
                                    int64_t copy, uint64_t offset,
                                    const void *from, uint64_t bytes,
                                    hfta_error *error) {
  const hfta_tensor *row = &worker->program->tensors[tensor];
  hfta_held *held = find_held(worker, row->segment, 0);
  held->at = worker->spill.coming[held - worker->spill.held].at = NULL;
  return hfta_store_write_bytes(
      worker->spill.store, extent_of(worker, row->segment, 0, copy),
      begin_of(worker, row, copy) + offset, from, bytes, error);
}
