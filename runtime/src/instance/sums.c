//===- sums.c - Adding up what the groups have summed ---------------------===//

#include "instance/sums.h"

#include "instance/worker.h"
#include "program/fetches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Ranges of bytes
//===----------------------------------------------------------------------===//

/// A range of bytes, relative to the place of an ALL_REDUCE's sums.
typedef struct piece {
  uint64_t offset, bytes;
} piece;

/// The sums of an ALL_REDUCE in a worker's memory.
typedef struct sums {
  const hfta_worker *worker;
  const hfta_command *command;
  const hfta_schedule *schedule;
  const hfta_command *fetch; ///< the FETCH that gives the sums their place;
                             ///< NULL: they are resident
  uint64_t bytes;            ///< size of one group's sums
} sums;

static sums describe(const hfta_worker *worker, const hfta_schedule *schedule,
                     const hfta_command *command) {
  uint32_t segment = command->to.index;
  bool is_resident =
      worker->program->segments[segment].residency == HFTA_RESIDENT;
  return (sums){
      .worker = worker,
      .command = command,
      .schedule = schedule,
      .fetch = is_resident ? NULL : hfta_find_fetch(schedule, command, segment),
      .bytes = hfta_reduced_bytes(worker->program, schedule, command)};
}

/// Returns the piece of the bytes that a rank adds up. It consists of whole
/// blocks; the numbers of blocks differ by at most one between ranks.
static piece piece_of_bytes(uint64_t bytes, uint64_t block, int ranks,
                            int rank) {
  uint64_t blocks = bytes / block;
  uint64_t begin = blocks * (uint64_t)rank / (uint64_t)ranks * block;
  uint64_t end = blocks * (uint64_t)(rank + 1) / (uint64_t)ranks * block;
  return (piece){begin, end - begin};
}

static piece piece_of(const sums *self, int rank) {
  return piece_of_bytes(self->bytes, self->command->to.copy_stride,
                        self->worker->share.ranks, rank);
}

static piece own_piece(const sums *self) {
  return piece_of(self, self->worker->share.rank);
}

/// Returns the address of the sums of the rank's own group number `index`. In
/// the arena it follows from the FETCH, so that it is known before the FETCH
/// runs.
static char *find_own(const sums *self, int64_t index) {
  const hfta_worker *worker = self->worker;
  const hfta_place *to = &self->command->to;
  char *base = worker->memory[to->index].bases[index];
  if (self->fetch)
    base =
        worker->spill.arena +
        hfta_fetch_begin(worker->program, self->schedule, self->fetch, index);
  return base + to->offset;
}

/// Returns the address of this rank's piece of a group's sums. It is in the
/// rank's own memory, or for another rank's group, in the memory that receives
/// these groups one after the other.
static char *find_group(const sums *self, int64_t group) {
  const hfta_worker *worker = self->worker;
  const hfta_share *share = &worker->share;
  int64_t received = group;
  for (int64_t i = 0; i < share->group_count && share->groups[i] <= group;
       ++i) {
    if (share->groups[i] == group)
      return find_own(self, i) + own_piece(self).offset;
    --received;
  }
  return worker->memory[self->command->from.index].bases[received];
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Plans the reduce-scatter: each rank sends to each peer the peer's piece of
/// its own groups, and receives its own piece of the peer's groups. Both sides
/// of a pair list the groups in the same order, in which the messages are
/// matched.
static void plan_exchange(const sums *self, hfta_exchange *exchange) {
  const hfta_share *share = &self->worker->share;
  for (int peer = 0; peer < share->ranks; ++peer) {
    piece other = piece_of(self, peer);
    for (int64_t i = 0; peer != share->rank && i < share->group_count; ++i)
      hfta_exchange_add(exchange, peer, true, find_own(self, i) + other.offset,
                        other.bytes);
  }
  for (int64_t group = 0; group < share->stage.groups; ++group) {
    int peer = hfta_rank_of_group(&share->stage, share->ranks, group);
    if (peer != share->rank)
      hfta_exchange_add(exchange, peer, false, find_group(self, group),
                        own_piece(self).bytes);
  }
}

/// Plans the all-gather that ends an all-reduce: each rank sends the result for
/// its piece to all others, and receives the results for their pieces.
static void plan_gifts(const sums *self, hfta_exchange *exchange) {
  const hfta_share *share = &self->worker->share;
  char *all = find_own(self, 0);
  piece own = own_piece(self);
  for (int peer = 0; peer < share->ranks; ++peer) {
    piece other = piece_of(self, peer);
    if (peer == share->rank)
      continue;
    hfta_exchange_add(exchange, peer, true, all + own.offset, own.bytes);
    hfta_exchange_add(exchange, peer, false, all + other.offset, other.bytes);
  }
}

/// Plans the messages of an ALL_GATHER: the values of each micro-batch go from
/// the rank that has it to all others.
static void plan_gather(const hfta_worker *worker, const hfta_command *command,
                        hfta_exchange *self) {
  const hfta_share *share = &worker->share;
  for (int64_t m = 0; m < worker->program->micro_batches; ++m) {
    char *bytes =
        (char *)worker->memory[command->to.index].bases[m] + command->to.offset;
    int owner = hfta_rank_of_group(&share->stage, share->ranks,
                                   m % share->stage.groups);
    for (int peer = 0; peer < share->ranks; ++peer)
      if (owner == share->rank ? peer != owner : peer == owner)
        hfta_exchange_add(self, peer, owner == share->rank, bytes,
                          command->bytes);
  }
}

static bool is_gather(const hfta_command *command) {
  return command->kind == HFTA_COMMAND_ALL_GATHER;
}

static hfta_status plan(hfta_worker *worker, const hfta_schedule *schedule,
                        const hfta_command *command, hfta_sum_messages *self) {
  const hfta_share *share = &worker->share;
  const hfta_program *program = worker->program;
  size_t peers = (size_t)share->ranks;
  size_t most = is_gather(command)
                    ? peers * (size_t)program->micro_batches
                    : peers * (size_t)share->group_count +
                          (size_t)share->stage.groups + 2 * peers;
  self->messages = calloc(most, sizeof(hfta_message));
  if (!self->messages)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  self->command = command;
  snprintf(self->what, sizeof(self->what), "%s of %s",
           is_gather(command) ? "micro-batches' parts" : "sums",
           program->segments[command->to.index].name);
  const hfta_exchange post = {
      worker->communicator,
      {{self->what, -1, (int)command->to.index}, self->messages, 0}};
  self->exchange = self->gifts = post;
  if (is_gather(command)) {
    plan_gather(worker, command, &self->exchange);
    return HFTA_OK;
  }
  sums all = describe(worker, schedule, command);
  plan_exchange(&all, &self->exchange);
  self->gifts.post.messages += self->exchange.post.count;
  plan_gifts(&all, &self->gifts);
  return HFTA_OK;
}

static bool has_memory(const hfta_worker *worker, const hfta_command *command) {
  return worker->memory[command->to.index].count > 0;
}

hfta_status hfta_sums_create(hfta_worker *worker) {
  const hfta_program *program = worker->program;
  uint32_t count = 0;
  if (worker->share.ranks == 1)
    return HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    count += program->schedules[s].command_count;
  worker->sums_of_groups.all = calloc(count, sizeof(hfta_sum_messages));
  if (!worker->sums_of_groups.all)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  hfta_status status = HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         program->schedules[s].stage == worker->workload.stage &&
         i < program->schedules[s].command_count && status == HFTA_OK;
         ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      bool exchanges =
          command->kind == HFTA_COMMAND_ALL_REDUCE || is_gather(command);
      if (exchanges && has_memory(worker, command))
        status =
            plan(worker, &program->schedules[s], command,
                 &worker->sums_of_groups.all[worker->sums_of_groups.count++]);
    }
  return status;
}

void hfta_sums_destroy(hfta_sums *self) {
  for (uint32_t i = 0; i < self->count; ++i)
    free(self->all[i].messages);
  free(self->all);
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// Adds the sums at `from` to those at `to`, for all blocks of the rank's
/// piece, by one run of the command's task.
static void add(hfta_worker *worker, const sums *self, char *to, char *from) {
  const hfta_command *command = self->command;
  memset(worker->call_bases, 0,
         sizeof(void *) * worker->program->segment_count);
  worker->call_bases[command->to.index] = to;
  worker->call_bases[command->from.index] = from;
  hfta_task_call call = {
      .task = &worker->program->tasks[command->subject],
      .segments = worker->call_bases,
      .keeps = worker->keeps,
      .copy_count = (int64_t)(own_piece(self).bytes / command->to.copy_stride),
      .micro_batch = -1};
  worker->device->functions->run(worker->device, command->queue, &call,
                                 command->subject);
}

/// Adds up groups by a binary tree. With c = `group` and q = `distance`, T(c,
/// q) is the sum of group c if there is no group c + q, else T(c, 2q) + T(c +
/// q, 2q). The result replaces group c's sum; returns its address.
static char *add_tree(hfta_worker *worker, const sums *self, int64_t group,
                      int64_t distance) {
  if (group + distance >= worker->share.stage.groups)
    return find_group(self, group);
  char *first = add_tree(worker, self, group, 2 * distance);
  char *other = add_tree(worker, self, group + distance, 2 * distance);
  add(worker, self, first, other);
  return first;
}

/// Adds up the rank's piece of all groups' sums; the result replaces that of
/// the rank's first group.
static void add_up(hfta_worker *worker, const sums *self) {
  piece own = own_piece(self);
  if (own.bytes == 0)
    return;
  char *sum = add_tree(worker, self, 0, 1);
  char *to = find_own(self, 0) + own.offset;
  if (sum != to)
    worker->device->functions->copy(worker->device, self->command->queue, to,
                                    sum, own.bytes);
}

static const hfta_sum_messages *find_messages(const hfta_sums *self,
                                              const hfta_command *command) {
  for (uint32_t i = 0; i < self->count; ++i)
    if (self->all[i].command == command)
      return &self->all[i];
  return NULL;
}

void hfta_sums_gather(hfta_worker *worker, const hfta_command *command) {
  const hfta_sum_messages *messages =
      find_messages(&worker->sums_of_groups, command);
  if (messages)
    hfta_exchange_give(&messages->exchange, worker->device, command->queue);
}

void hfta_sums_add_up(hfta_worker *worker, const hfta_schedule *schedule,
                      const hfta_command *command) {
  const hfta_device_functions *device = worker->device->functions;
  sums self = describe(worker, schedule, command);
  if (!has_memory(worker, command) || self.bytes == 0)
    return;
  const hfta_sum_messages *messages =
      find_messages(&worker->sums_of_groups, command);
  if (messages)
    hfta_exchange_give(&messages->exchange, worker->device, command->queue);
  add_up(worker, &self);
  if (messages)
    hfta_exchange_give(&messages->gifts, worker->device, command->queue);
  for (uint32_t i = 0; i < worker->memory[command->to.index].count; ++i) {
    hfta_spill_write(worker, command->to.index, i);
    if (i > 0)
      device->fill(worker->device, command->queue, find_own(&self, i),
                   self.bytes);
  }
}

//===----------------------------------------------------------------------===//
// Sums of one group
//===----------------------------------------------------------------------===//

/// Returns the address of a TAKE_GROUP's place in the instance of the rank's
/// own group number `index`.
static char *find_taken(const hfta_worker *worker, const hfta_command *command,
                        int64_t index) {
  return (char *)worker->memory[command->to.index].bases[index] +
         command->to.offset;
}

/// Returns the position of a group among those of the rank; -1 if the rank
/// doesn't have it.
static int64_t find_place_of(const hfta_share *share, int64_t group) {
  for (int64_t i = 0; i < share->group_count; ++i)
    if (share->groups[i] == group)
      return i;
  return -1;
}

void hfta_sums_take(hfta_worker *worker, const hfta_command *command,
                    const int32_t *copies, int64_t copy_count) {
  hfta_device *device = worker->device;
  const hfta_device_functions *functions = device->functions;
  int64_t instances = worker->memory[command->to.index].count;
  int64_t group = find_place_of(&worker->share, command->subject);
  uint64_t stride = command->to.copy_stride;
  if (instances == 0)
    return;
  for (int64_t i = 0; i < (stride ? copy_count : 1); ++i) {
    uint64_t offset = stride ? stride * (uint64_t)copies[i] : 0;
    if (group > 0)
      functions->copy(
          device, command->queue, find_taken(worker, command, 0) + offset,
          find_taken(worker, command, group) + offset, command->bytes);
    // If the rank has the group, its first instance keeps the group's sums; all
    // other instances become zeros.
    for (int64_t own = group < 0 ? 0 : 1; own < instances; ++own)
      functions->fill(device, command->queue,
                      find_taken(worker, command, own) + offset,
                      command->bytes);
  }
}
