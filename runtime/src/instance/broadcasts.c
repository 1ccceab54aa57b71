//===- broadcasts.c - Broadcasts from some replicas to others -------------===//

#include "instance/broadcasts.h"

#include "instance/worker.h"

#include <stdio.h>
#include <stdlib.h>

int hfta_broadcast_source(const hfta_stage *stage, int ranks, int rank,
                          const hfta_command *command) {
  const hfta_replicas *owners = &command->replicas;
  int64_t first = hfta_rank_first_of(stage, ranks, rank, &command->receivers);
  if (first < 0 || hfta_rank_first_of(stage, ranks, rank, owners) >= 0)
    return -1;
  int64_t member = first / owners->stride;
  if (member >= owners->count)
    member = owners->count - 1;
  return hfta_rank_of_replica(stage, ranks,
                              owners->first + member * owners->stride);
}

/// Sets `self->peers` (which has room for all ranks) to the ranks to which the
/// rank sends, or to the one from which it receives.
static void find_peers(const hfta_share *share, const hfta_command *command,
                       hfta_broadcast *self) {
  int source =
      hfta_broadcast_source(&share->stage, share->ranks, share->rank, command);
  self->peer_count = 0;
  self->sends = source < 0;
  if (source >= 0)
    self->peers[self->peer_count++] = source;
  for (int peer = 0; self->sends && peer < share->ranks; ++peer)
    if (hfta_broadcast_source(&share->stage, share->ranks, peer, command) ==
        share->rank)
      self->peers[self->peer_count++] = peer;
}

static hfta_status plan(hfta_worker *worker, const hfta_command *command,
                        hfta_broadcast *self) {
  const hfta_program *program = worker->program;
  const hfta_share *share = &worker->share;
  size_t copies = command->to.copy_stride ? (size_t)program->copies : 1;
  self->command = command;
  self->peers = calloc((size_t)share->ranks, sizeof(*self->peers));
  if (self->peers) {
    find_peers(share, command, self);
    self->messages =
        calloc((size_t)self->peer_count * copies + 1, sizeof(*self->messages));
  }
  if (!self->messages)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  snprintf(self->what, sizeof(self->what), "%s of %s",
           self->sends ? "a share" : "another's share",
           program->segments[command->to.index].name);
  self->exchange = (hfta_exchange){
      worker->communicator,
      {{self->what, -1, (int)command->to.index}, self->messages, 0}};
  return HFTA_OK;
}

/// Returns whether a command is a broadcast in one of the worker's schedules,
/// of a segment for which the worker has memory.
static bool is_own(const hfta_worker *worker, uint32_t schedule,
                   const hfta_command *command) {
  return worker->program->schedules[schedule].stage == worker->workload.stage &&
         command->kind == HFTA_COMMAND_BROADCAST &&
         worker->memory[command->to.index].count > 0;
}

hfta_status hfta_broadcasts_create(hfta_worker *worker) {
  const hfta_program *program = worker->program;
  hfta_broadcasts *self = &worker->broadcasts;
  if (worker->share.ranks == 1)
    return HFTA_OK;
  uint32_t count = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; i < program->schedules[s].command_count; ++i)
      count += is_own(worker, s, &program->schedules[s].commands[i]);
  self->all = calloc((size_t)count + 1, sizeof(*self->all));
  if (!self->all)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  hfta_status status = HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         i < program->schedules[s].command_count && status == HFTA_OK; ++i)
      if (is_own(worker, s, &program->schedules[s].commands[i]))
        status = plan(worker, &program->schedules[s].commands[i],
                      &self->all[self->count++]);
  return status;
}

void hfta_broadcasts_destroy(hfta_broadcasts *self) {
  for (uint32_t i = 0; i < self->count; ++i) {
    free(self->all[i].peers);
    free(self->all[i].messages);
  }
  free(self->all);
}

/// Builds the messages anew in each call, because fewer or different copies may
/// run than in the last one. The last call's messages have ended by now.
void hfta_broadcasts_give(hfta_worker *worker, const hfta_command *command,
                          const int32_t *copies, int64_t copy_count) {
  hfta_broadcast *self = NULL;
  for (uint32_t i = 0; i < worker->broadcasts.count && !self; ++i)
    if (worker->broadcasts.all[i].command == command)
      self = &worker->broadcasts.all[i];
  if (!self)
    return;
  const hfta_place *at = &command->to;
  char *memory = (char *)worker->memory[at->index].bases[0] + at->offset;
  int64_t count = at->copy_stride ? copy_count : 1;
  self->exchange.post.count = 0;
  for (int peer = 0; peer < self->peer_count; ++peer)
    for (int64_t i = 0; i < count; ++i) {
      uint64_t copy = at->copy_stride ? (uint64_t)copies[i] : 0;
      hfta_exchange_add(&self->exchange, self->peers[peer], self->sends,
                        memory + at->copy_stride * copy, command->bytes);
    }
  hfta_exchange_give(&self->exchange, worker->device, command->queue);
}
