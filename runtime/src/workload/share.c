//===- share.c - The part of a step that a worker does --------------------===//

#include "workload/share.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

hfta_stage hfta_program_stage(const hfta_program *program, int32_t stage) {
  if (stage >= 0)
    return program->stages[stage];
  if (program->stage_count == 1)
    return program->stages[0];
  return (hfta_stage){1, 1, program->micro_batches};
}

int64_t hfta_first_worker(const hfta_program *program, int32_t stage) {
  int64_t first = 0;
  for (int32_t i = 0; i < stage; ++i)
    first += program->stages[i].replicas;
  return first;
}

/// Returns the rank that has a place, if `ranks` ranks share `count` places as
/// evenly as possible, each a range of them.
static int rank_of_place(int64_t count, int ranks, int64_t place) {
  return (int)(((place + 1) * ranks - 1) / count);
}

int64_t hfta_worker_place(const hfta_program *program, int64_t worker) {
  return program->worker_places ? program->worker_places[worker] : worker;
}

int hfta_rank_of_worker(const hfta_program *program, int ranks,
                        int64_t worker) {
  return rank_of_place(program->workers, ranks,
                       hfta_worker_place(program, worker));
}

int64_t hfta_rank_worker_count(const hfta_program *program, int ranks,
                               int rank) {
  return (rank + 1) * program->workers / ranks -
         rank * program->workers / ranks;
}

int64_t hfta_rank_worker(const hfta_program *program, int ranks, int rank,
                         int64_t index) {
  int64_t worker = 0;
  while (hfta_rank_of_worker(program, ranks, worker) != rank || index-- > 0)
    ++worker;
  return worker;
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

int hfta_rank_of_replica(const hfta_stage *stage, int ranks, int64_t replica) {
  return rank_of_place(stage->replicas, ranks, replica);
}

int64_t hfta_rank_first_of(const hfta_stage *stage, int ranks, int rank,
                           const hfta_replicas *replicas) {
  if (ranks == 1)
    return replicas->first;
  for (uint32_t i = 0; i < replicas->count; ++i) {
    int64_t replica = replicas->first + (int64_t)i * replicas->stride;
    if (hfta_rank_of_replica(stage, ranks, replica) == rank)
      return replica;
  }
  return -1;
}

int hfta_rank_of_group(const hfta_stage *stage, int ranks, int64_t group) {
  return hfta_rank_of_replica(stage, ranks, group % stage->replicas);
}

int64_t hfta_rank_groups(const hfta_stage *stage, int ranks, int rank) {
  int64_t count = 0;
  for (int64_t group = 0; group < stage->groups; ++group)
    count += hfta_rank_of_group(stage, ranks, group) == rank;
  return count;
}

int64_t hfta_rank_micro_batches(const hfta_program *program,
                                const hfta_stage *stage, int ranks, int rank) {
  int64_t count = 0;
  for (int64_t m = 0; m < program->micro_batches; ++m)
    count += hfta_rank_of_group(stage, ranks, m % stage->groups) == rank;
  return count;
}

hfta_status hfta_share_create(hfta_share *self, const hfta_program *program,
                              int32_t stage, int rank, int ranks,
                              hfta_error *error) {
  memset(self, 0, sizeof(*self));
  self->stage = hfta_program_stage(program, stage);
  self->rank = rank;
  self->ranks = ranks;
  size_t groups = (size_t)self->stage.groups;
  size_t micro_batches = (size_t)program->micro_batches;
  self->groups = calloc(groups, sizeof(int64_t));
  self->micro_batches = calloc(micro_batches, sizeof(int64_t));
  self->group_of = calloc(micro_batches, sizeof(int64_t));
  if (!self->groups || !self->micro_batches || !self->group_of)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  for (int64_t group = 0; group < self->stage.groups; ++group)
    if (hfta_rank_of_group(&self->stage, ranks, group) == rank)
      self->groups[self->group_count++] = group;
  // A rank's micro-batches go through its groups round-robin, in the groups'
  // order. So a micro-batch's index modulo the number of groups is its group's
  // position.
  for (int64_t m = 0; m < program->micro_batches; ++m)
    if (hfta_rank_of_group(&self->stage, ranks, m % self->stage.groups) ==
        rank) {
      int64_t own = self->micro_batch_count++;
      self->micro_batches[own] = m;
      self->group_of[own] = own % self->group_count;
    }
  return HFTA_OK;
}

void hfta_share_destroy(hfta_share *self) {
  free(self->groups);
  free(self->micro_batches);
  free(self->group_of);
}

int64_t hfta_share_count(const hfta_share *self, int64_t count) {
  int64_t own = 0;
  while (own < self->micro_batch_count && self->micro_batches[own] < count)
    ++own;
  return own;
}
