//===- checkpoint_parts.c - Distribution of checkpoints over ranks --------===//

#include "checkpoint/checkpoint_parts.h"

#include "checkpoint/checkpoint_impl.h"
#include "communicator/tags.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Holders of segments
//===----------------------------------------------------------------------===//

/// Returns the row of `holds` for a rank, with an element per segment.
static bool *answers_of(const hfta_checkpoint_parts *self, int rank) {
  return self->holds + (size_t)rank * self->instance->program->segment_count;
}

/// Fills `holds` if all ranks hold the same segments.
static void find_held_alike(hfta_checkpoint_parts *self) {
  uint32_t segments = self->instance->program->segment_count;
  for (int rank = 0; rank < self->ranks->size; ++rank)
    for (uint32_t i = 0; i < segments; ++i)
      answers_of(self, rank)[i] = hfta_instance_find_worker(self->instance, i);
}

/// Fills a rank's row of `holds`: a rank holds the segments of all its workers.
static void find_held_by(hfta_checkpoint_parts *self, int rank) {
  const hfta_program *program = self->instance->program;
  hfta_workload workload = self->instance->workload;
  workload.rank = rank;
  workload.ranks = self->ranks->size;
  uint32_t workers = hfta_workload_worker_count(program, &workload);
  for (uint32_t w = 0; w < workers; ++w) {
    hfta_workload own = hfta_workload_of_worker(program, &workload, w);
    for (uint32_t s = 0; s < program->segment_count; ++s)
      answers_of(self, rank)[s] |= hfta_workload_needs(program, &own, s);
  }
}

/// Returns the rank that provides a segment's tensors for a file: counting from
/// the rank of the first worker of the segment's stage, the first one that
/// holds it. A segment without a stage has equal contents on all ranks that
/// hold it.
static int find_owner(const hfta_checkpoint_parts *self, uint32_t segment) {
  const hfta_program *program = self->instance->program;
  int32_t stage = program->segments[segment].stage;
  int first = stage < 0
                  ? 0
                  : hfta_rank_of_worker(program, self->ranks->size,
                                        hfta_first_worker(program, stage));
  for (int i = 0; i < self->ranks->size; ++i) {
    int rank = (first + i) % self->ranks->size;
    if (answers_of(self, rank)[segment])
      return rank;
  }
  return 0;
}

static void find_held(hfta_checkpoint_parts *self) {
  if (!self->is_spread) {
    find_held_alike(self);
    return;
  }
  for (int rank = 0; rank < self->ranks->size; ++rank)
    find_held_by(self, rank);
  for (uint32_t i = 0; i < self->instance->program->segment_count; ++i)
    self->owners[i] = find_owner(self, i);
}

bool hfta_checkpoint_is_spread(const hfta_instance *instance) {
  const hfta_program *program = instance->program;
  bool has_parts = hfta_workload_has_stages(program, &instance->workload);
  for (uint32_t i = 0; i < program->segment_count; ++i)
    has_parts |= program->segments[i].holders.count > 0;
  return instance->communicator->size > 1 && has_parts;
}

hfta_status hfta_checkpoint_parts_create(hfta_checkpoint_parts *self,
                                         hfta_instance *instance,
                                         hfta_error *error) {
  const hfta_program *program = instance->program;
  size_t segments = (size_t)program->segment_count + 1;
  *self =
      (hfta_checkpoint_parts){.instance = instance,
                              .ranks = instance->communicator,
                              .is_spread = hfta_checkpoint_is_spread(instance)};
  self->holds = calloc(segments * (size_t)self->ranks->size, sizeof(bool));
  self->owners = calloc(segments, sizeof(int));
  self->tensors = calloc((size_t)program->tensor_count + 1, sizeof(uint32_t));
  self->chunk = malloc(HFTA_CHUNK_BYTES);
  if (!self->holds || !self->owners || !self->tensors || !self->chunk)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a checkpoint");
  find_held(self);
  return HFTA_OK;
}

void hfta_checkpoint_parts_destroy(hfta_checkpoint_parts *self) {
  free(self->holds);
  free(self->owners);
  free(self->tensors);
  hfta_communicator_free(self->ranks, self->chunk);
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void hfta_checkpoint_parts_list(hfta_checkpoint_parts *self, int64_t copy) {
  const hfta_program *program = self->instance->program;
  self->count = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if ((program->tensors[i].flags & HFTA_TENSOR_CHECKPOINT) &&
        hfta_tensor_is_of(&program->tensors[i], copy))
      self->tensors[self->count++] = i;
}

/// Returns whether the instance needs the tensor from the copy's file.
static bool is_needed(const hfta_checkpoint_parts *self,
                      const hfta_tensor *tensor, int64_t copy) {
  bool again = copy > self->instance->workload.first_copy &&
               (tensor->flags & HFTA_TENSOR_SHARED);
  bool held = false;
  for (int rank = 0; rank < self->ranks->size; ++rank)
    held |= answers_of(self, rank)[tensor->segment];
  return held && !again;
}

void hfta_checkpoint_parts_list_needed(hfta_checkpoint_parts *self,
                                       int64_t copy) {
  const hfta_program *program = self->instance->program;
  uint32_t count = 0;
  hfta_checkpoint_parts_list(self, copy);
  for (uint32_t i = 0; i < self->count; ++i)
    if (is_needed(self, &program->tensors[self->tensors[i]], copy))
      self->tensors[count++] = self->tensors[i];
  self->count = count;
}

void hfta_checkpoint_parts_narrow(hfta_checkpoint_parts *self, int64_t copy) {
  const hfta_program *program = self->instance->program;
  uint32_t count = 0;
  for (uint32_t i = 0; i < self->count; ++i)
    if (hfta_best_weights_have(&program->tensors[self->tensors[i]], copy))
      self->tensors[count++] = self->tensors[i];
  self->count = count;
}

/// Returns the tensor at an index of the list.
static const hfta_tensor *tensor_at(const hfta_checkpoint_parts *self,
                                    uint32_t place) {
  return &self->instance->program->tensors[self->tensors[place]];
}

/// Returns whether two tensors of the list may be in one chunk: they have the
/// same owner, and the same ranks hold them.
static bool are_together(const hfta_checkpoint_parts *self, uint32_t left,
                         uint32_t right) {
  uint32_t one = tensor_at(self, left)->segment;
  uint32_t other = tensor_at(self, right)->segment;
  bool same = self->owners[one] == self->owners[other];
  for (int rank = 0; same && rank < self->ranks->size; ++rank)
    same = answers_of(self, rank)[one] == answers_of(self, rank)[other];
  return same;
}

hfta_chunk hfta_checkpoint_parts_next(const hfta_checkpoint_parts *self,
                                      const hfta_chunk *last) {
  hfta_chunk out = {last->first, last->offset + last->bytes, 0};
  while (out.first < self->count &&
         out.offset >= tensor_at(self, out.first)->bytes) {
    out.offset -= tensor_at(self, out.first)->bytes;
    ++out.first;
  }
  uint64_t room = HFTA_CHUNK_BYTES + out.offset;
  for (uint32_t i = out.first; i < self->count && room > 0; ++i) {
    if (!are_together(self, out.first, i))
      break;
    uint64_t bytes = tensor_at(self, i)->bytes;
    out.bytes += bytes < room ? bytes : room;
    room -= bytes < room ? bytes : room;
  }
  // The sum includes the bytes of the first tensor before the offset.
  out.bytes -= out.first < self->count ? out.offset : 0;
  return out;
}

int hfta_checkpoint_parts_owner(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk) {
  return self->owners[tensor_at(self, chunk->first)->segment];
}

bool hfta_checkpoint_parts_hold(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk, int rank) {
  return answers_of(self, rank)[tensor_at(self, chunk->first)->segment];
}

hfta_status hfta_checkpoint_parts_visit(const hfta_checkpoint_parts *self,
                                        const hfta_chunk *chunk,
                                        hfta_part_function function,
                                        void *argument) {
  hfta_status status = HFTA_OK;
  uint64_t done = 0, offset = chunk->offset;
  for (uint32_t i = chunk->first; done < chunk->bytes && status == HFTA_OK;
       ++i) {
    uint64_t rest = chunk->bytes - done;
    uint64_t bytes = tensor_at(self, i)->bytes - offset;
    bytes = bytes < rest ? bytes : rest;
    if (bytes > 0)
      status = function(argument, self->tensors[i], offset, self->chunk + done,
                        bytes);
    done += bytes;
    offset = 0;
  }
  hfta_communicator_progress(self->ranks);
  return status;
}

//===----------------------------------------------------------------------===//
// Between ranks
//===----------------------------------------------------------------------===//

/// Exchanges messages with other ranks and waits for their completion.
static hfta_status complete(const hfta_checkpoint_parts *self,
                            const hfta_message *messages, uint32_t count,
                            hfta_error *error) {
  hfta_post post = {
      {"part of a checkpoint", -1, HFTA_TAG_STATE}, messages, count};
  return hfta_communicator_complete(self->ranks, &post, error);
}

hfta_status hfta_checkpoint_parts_send(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk, int to,
                                       hfta_error *error) {
  hfta_message message = {to, true, self->chunk, chunk->bytes};
  return complete(self, &message, 1, error);
}

hfta_status hfta_checkpoint_parts_give(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk,
                                       hfta_error *error) {
  hfta_message messages[HFTA_MAX_RANKS];
  uint32_t count = 0;
  for (int rank = 0; rank < self->ranks->size; ++rank)
    if (rank != self->ranks->rank &&
        hfta_checkpoint_parts_hold(self, chunk, rank))
      messages[count++] = (hfta_message){rank, true, self->chunk, chunk->bytes};
  return count == 0 ? HFTA_OK : complete(self, messages, count, error);
}

hfta_status hfta_checkpoint_parts_receive(const hfta_checkpoint_parts *self,
                                          const hfta_chunk *chunk, int from,
                                          hfta_error *error) {
  hfta_message message = {from, false, self->chunk, chunk->bytes};
  return complete(self, &message, 1, error);
}

hfta_status hfta_checkpoint_parts_agree(const hfta_checkpoint_parts *self,
                                        hfta_status status, hfta_error *error) {
  if (self->ranks->size == 1)
    return status;
  int64_t worst = status;
  hfta_status own =
      hfta_communicator_max(self->ranks, "how a checkpoint goes", &worst,
                            status == HFTA_OK ? error : NULL);
  if (status != HFTA_OK || own != HFTA_OK)
    return status != HFTA_OK ? status : own;
  return worst == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, (hfta_status)worst,
                         "another rank has failed with its part of a "
                         "checkpoint");
}
