//===- sums.c - Adding up what the groups have summed ---------------------===//

#include "schedule/sums.h"

#include "schedule/instance_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Who has what
//===----------------------------------------------------------------------===//

/// Bytes from the place of the command's sums on.
typedef struct piece {
  uint64_t offset, bytes;
} piece;

/// What a rank adds up: whole blocks, as many as the others within one.
static piece piece_of(const hfta_command *command, int ranks, int rank) {
  uint64_t block = command->to.copy_stride, blocks = command->bytes / block;
  uint64_t begin = blocks * (uint64_t)rank / (uint64_t)ranks * block;
  uint64_t end = blocks * (uint64_t)(rank + 1) / (uint64_t)ranks * block;
  return (piece){begin, end - begin};
}

uint64_t hfta_sums_received_bytes(const hfta_command *command, int ranks) {
  uint64_t block = command->to.copy_stride, blocks = command->bytes / block;
  return (blocks + (uint64_t)ranks - 1) / (uint64_t)ranks * block;
}

/// The place of the rank's `index`-th group in memory.
static char *find_own(const hfta_instance *instance,
                      const hfta_command *command, int64_t index) {
  return (char *)instance->memory[command->to.index].bases[index] +
         command->to.offset;
}

/// The sums of a group that this rank adds up: in its own memory, or where
/// those of other ranks' groups come to, one after the other.
static char *find_group(const hfta_instance *instance,
                        const hfta_command *command, int64_t group) {
  const hfta_share *share = &instance->share;
  int64_t received = group;
  for (int64_t i = 0; i < share->group_count && share->groups[i] <= group;
       ++i) {
    if (share->groups[i] == group)
      return find_own(instance, command, i) +
             piece_of(command, share->ranks, share->rank).offset;
    --received;
  }
  return instance->memory[command->from.index].bases[received];
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The post's next message.
static void add_message(hfta_sum_post *self, int peer, bool sends, char *memory,
                        uint64_t bytes) {
  hfta_message *messages = (hfta_message *)(uintptr_t)self->post.messages;
  if (bytes > 0)
    messages[self->post.count++] = (hfta_message){peer, sends, memory, bytes};
}

/// Of each pair of ranks, both in the order of groups.
static void plan_exchange(const hfta_instance *instance,
                          const hfta_command *command, hfta_sum_post *self) {
  const hfta_share *share = &instance->share;
  piece own = piece_of(command, share->ranks, share->rank);
  for (int peer = 0; peer < share->ranks; ++peer) {
    piece other = piece_of(command, share->ranks, peer);
    for (int64_t i = 0; peer != share->rank && i < share->group_count; ++i)
      add_message(self, peer, true,
                  find_own(instance, command, i) + other.offset, other.bytes);
  }
  for (int64_t group = 0; group < instance->program->groups; ++group) {
    int peer = hfta_rank_of_group(instance->program, share->ranks, group);
    if (peer != share->rank)
      add_message(self, peer, false, find_group(instance, command, group),
                  own.bytes);
  }
}

static void plan_gifts(const hfta_instance *instance,
                       const hfta_command *command, hfta_sum_post *self) {
  const hfta_share *share = &instance->share;
  char *sums = find_own(instance, command, 0);
  piece own = piece_of(command, share->ranks, share->rank);
  for (int peer = 0; peer < share->ranks; ++peer) {
    piece other = piece_of(command, share->ranks, peer);
    if (peer == share->rank)
      continue;
    add_message(self, peer, true, sums + own.offset, own.bytes);
    add_message(self, peer, false, sums + other.offset, other.bytes);
  }
}

/// Each micro-batch's bytes from its rank to all others.
static void plan_gather(const hfta_instance *instance,
                        const hfta_command *command, hfta_sum_post *self) {
  const hfta_share *share = &instance->share;
  for (int64_t m = 0; m < instance->program->micro_batches; ++m) {
    char *bytes = (char *)instance->memory[command->to.index].bases[m] +
                  command->to.offset;
    int owner = hfta_rank_of_group(instance->program, share->ranks,
                                   m % instance->program->groups);
    for (int peer = 0; peer < share->ranks; ++peer)
      if (owner == share->rank ? peer != owner : peer == owner)
        add_message(self, peer, owner == share->rank, bytes, command->bytes);
  }
}

static bool is_gather(const hfta_command *command) {
  return command->kind == HFTA_COMMAND_ALL_GATHER;
}

static hfta_status plan(hfta_instance *instance, const hfta_command *command,
                        hfta_sum_messages *self) {
  const hfta_share *share = &instance->share;
  const hfta_program *program = instance->program;
  size_t peers = (size_t)share->ranks;
  size_t most = is_gather(command) ? peers * (size_t)program->micro_batches
                                   : peers * (size_t)share->group_count +
                                         (size_t)program->groups + 2 * peers;
  self->messages = calloc(most, sizeof(hfta_message));
  if (!self->messages)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  self->command = command;
  snprintf(self->what, sizeof(self->what), "%s of %s",
           is_gather(command) ? "micro-batches' parts" : "sums",
           program->segments[command->to.index].name);
  const hfta_sum_post post = {
      instance->communicator,
      {{self->what, -1, (int)command->to.index}, self->messages, 0}};
  self->exchange = self->gifts = post;
  if (is_gather(command)) {
    plan_gather(instance, command, &self->exchange);
    return HFTA_OK;
  }
  plan_exchange(instance, command, &self->exchange);
  self->gifts.post.messages += self->exchange.post.count;
  plan_gifts(instance, command, &self->gifts);
  return HFTA_OK;
}

static bool has_memory(const hfta_instance *instance,
                       const hfta_command *command) {
  return instance->memory[command->to.index].count > 0;
}

hfta_status hfta_sums_create(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  uint32_t count = 0;
  if (instance->share.ranks == 1)
    return HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    count += program->schedules[s].command_count;
  instance->sums_of_groups.all = calloc(count, sizeof(hfta_sum_messages));
  if (!instance->sums_of_groups.all)
    return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between ranks");
  hfta_status status = HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         i < program->schedules[s].command_count && status == HFTA_OK; ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      bool exchanges =
          command->kind == HFTA_COMMAND_ALL_REDUCE || is_gather(command);
      if (exchanges && has_memory(instance, command))
        status = plan(
            instance, command,
            &instance->sums_of_groups.all[instance->sums_of_groups.count++]);
    }
  return status;
}

void hfta_sums_destroy(hfta_sums *self) {
  for (uint32_t i = 0; i < self->count; ++i)
    free(self->all[i].messages);
  free(self->all);
}

static hfta_status post_and_wait(void *argument, hfta_error *error) {
  const hfta_sum_post *self = argument;
  return hfta_communicator_complete(self->communicator, &self->post, error);
}

//===----------------------------------------------------------------------===//
// Adding up
//===----------------------------------------------------------------------===//

/// One run of the task for all blocks of the rank's piece.
static void add(hfta_instance *instance, const hfta_command *command, char *to,
                char *from) {
  const hfta_share *share = &instance->share;
  piece own = piece_of(command, share->ranks, share->rank);
  memset(instance->call_bases, 0,
         sizeof(void *) * instance->program->segment_count);
  instance->call_bases[command->to.index] = to;
  instance->call_bases[command->from.index] = from;
  hfta_task_call call = {.task = &instance->program->tasks[command->subject],
                         .segments = instance->call_bases,
                         .keeps = instance->keeps,
                         .copy_count =
                             (int64_t)(own.bytes / command->to.copy_stride),
                         .micro_batch = -1};
  instance->device->functions->run(instance->device, command->queue, &call,
                                   command->subject);
}

/// T(c, q): the sum of group c if c + q is no group, else T(c, 2q) +
/// T(c + q, 2q). It lies where group c's sum was.
static char *add_tree(hfta_instance *instance, const hfta_command *command,
                      int64_t group, int64_t distance) {
  if (group + distance >= instance->program->groups)
    return find_group(instance, command, group);
  char *first = add_tree(instance, command, group, 2 * distance);
  char *other = add_tree(instance, command, group + distance, 2 * distance);
  add(instance, command, first, other);
  return first;
}

/// The rank's own piece, to the place of its first group's.
static void add_up(hfta_instance *instance, const hfta_command *command) {
  const hfta_share *share = &instance->share;
  piece own = piece_of(command, share->ranks, share->rank);
  if (own.bytes == 0)
    return;
  char *sum = add_tree(instance, command, 0, 1);
  char *to = find_own(instance, command, 0) + own.offset;
  if (sum != to)
    instance->device->functions->copy(instance->device, command->queue, to, sum,
                                      own.bytes);
}

static const hfta_sum_messages *find_messages(const hfta_sums *self,
                                              const hfta_command *command) {
  for (uint32_t i = 0; i < self->count; ++i)
    if (self->all[i].command == command)
      return &self->all[i];
  return NULL;
}

/// In the turn of the command's queue.
static void exchange(hfta_instance *instance, const hfta_command *command,
                     const hfta_sum_post *post) {
  hfta_host_call call = {post_and_wait, (void *)(uintptr_t)post, &post->post};
  instance->device->functions->call(instance->device, command->queue, &call);
}

void hfta_sums_gather(hfta_instance *instance, const hfta_command *command) {
  const hfta_sum_messages *messages =
      find_messages(&instance->sums_of_groups, command);
  if (messages)
    exchange(instance, command, &messages->exchange);
}

void hfta_sums_add_up(hfta_instance *instance, const hfta_command *command) {
  const hfta_device_functions *device = instance->device->functions;
  if (!has_memory(instance, command))
    return;
  const hfta_sum_messages *messages =
      find_messages(&instance->sums_of_groups, command);
  if (messages)
    exchange(instance, command, &messages->exchange);
  add_up(instance, command);
  if (messages)
    exchange(instance, command, &messages->gifts);
  for (uint32_t i = 1; i < instance->memory[command->to.index].count; ++i)
    device->fill(instance->device, command->queue,
                 find_own(instance, command, i), command->bytes);
}
