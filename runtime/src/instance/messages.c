//===- messages.c - Messages between workers of different stages ----------===//

#include "instance/messages.h"

#include "instance/worker.h"

#include <stdlib.h>

static bool is_message(const hfta_command *command) {
  return command->kind == HFTA_COMMAND_SEND ||
         command->kind == HFTA_COMMAND_RECEIVE;
}

/// Returns whether the body of a command runs for each of the worker's own
/// micro-batches.
static bool begins_micro_batches(const hfta_command *command) {
  return command->kind == HFTA_COMMAND_ACTIONS ||
         (command->kind == HFTA_COMMAND_REPEAT &&
          command->subject == HFTA_REPEAT_MICRO_BATCHES);
}

/// Adds the message of a command to an exchange: to or from `replica` of the
/// other stage, for the worker's micro-batch at position `place`, which has
/// `number` in the step.
static void add(const hfta_worker *worker, const hfta_command *command,
                int64_t replica, int64_t place, int64_t number,
                hfta_exchange *to) {
  uint32_t segment = command->to.index;
  const hfta_segment_memory *memory = &worker->memory[segment];
  int64_t instance =
      hfta_worker_instance(worker, segment, place, number) % memory->count;
  int64_t peer =
      hfta_first_worker(worker->program, (int32_t)command->subject) + replica;
  hfta_exchange_add(to, (int)peer, command->kind == HFTA_COMMAND_SEND,
                    (char *)memory->bases[instance] + command->to.offset,
                    command->bytes);
}

/// Plans one message per micro-batch of the worker: to or from the replica of
/// the other stage that has the same micro-batch.
static void plan_micro_batches(const hfta_worker *worker,
                               hfta_stage_messages *self) {
  const hfta_command *command = self->command;
  const hfta_stage *other = &worker->program->stages[command->subject];
  for (int64_t i = 0; i < worker->share.micro_batch_count; ++i) {
    int64_t number = worker->share.micro_batches[i];
    self->exchanges[i].post.label.micro_batch = number;
    add(worker, command, number % other->groups % other->replicas, i, number,
        &self->exchanges[i]);
  }
}

/// Plans the messages of a command that runs once. Replica r of the receiving
/// stage receives from replica r mod S of the S sending ones; so a sender may
/// have several receivers.
static void plan_once(const hfta_worker *worker, hfta_stage_messages *self) {
  const hfta_command *command = self->command;
  int64_t others = worker->program->stages[command->subject].replicas;
  int64_t own = worker->share.rank, all = worker->share.stage.replicas;
  if (command->kind == HFTA_COMMAND_RECEIVE) {
    add(worker, command, own % others, 0, 0, self->exchanges);
    return;
  }
  for (int64_t replica = own; replica < others; replica += all)
    add(worker, command, replica, 0, 0, self->exchanges);
}

static hfta_status plan(hfta_worker *worker, const hfta_command *command,
                        bool once, hfta_stage_messages *self) {
  const hfta_program *program = worker->program;
  size_t posts = once ? 1 : (size_t)worker->share.micro_batch_count;
  size_t most = once ? (size_t)program->stages[command->subject].replicas : 1;
  self->command = command;
  self->exchange_count = posts;
  self->messages = calloc(posts * most, sizeof(*self->messages));
  self->exchanges = calloc(posts, sizeof(*self->exchanges));
  if (!self->messages || !self->exchanges)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between stages");
  for (size_t i = 0; i < posts; ++i) {
    const hfta_label label = {program->segments[command->to.index].name, -1,
                              (int)command->to.index};
    self->exchanges[i] = (hfta_exchange){worker->everyone,
                                         {label, &self->messages[i * most], 0}};
  }
  if (once)
    plan_once(worker, self);
  else
    plan_micro_batches(worker, self);
  return HFTA_OK;
}

static hfta_status plan_schedule(hfta_worker *worker,
                                 const hfta_schedule *schedule) {
  hfta_messages *self = &worker->messages;
  uint32_t end = 0; // end of the body that runs for each micro-batch
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < schedule->command_count && status == HFTA_OK; ++i) {
    const hfta_command *command = &schedule->commands[i];
    if (begins_micro_batches(command) && i >= end)
      end = i + 1 + command->length;
    if (is_message(command))
      status = plan(worker, command, i >= end, &self->all[self->count++]);
  }
  return status;
}

hfta_status hfta_messages_create(hfta_worker *worker) {
  const hfta_program *program = worker->program;
  uint32_t count = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; i < program->schedules[s].command_count; ++i)
      count += is_message(&program->schedules[s].commands[i]);
  if (!worker->everyone || count == 0)
    return HFTA_OK;
  worker->messages.all = calloc(count, sizeof(*worker->messages.all));
  if (!worker->messages.all)
    return hfta_fail(&worker->error, HFTA_UNSUPPORTED,
                     "not enough memory for messages between stages");
  hfta_status status = HFTA_OK;
  for (uint32_t s = 0; s < program->schedule_count && status == HFTA_OK; ++s)
    if (hfta_workload_runs(program, &worker->workload, s))
      status = plan_schedule(worker, &program->schedules[s]);
  return status;
}

void hfta_messages_destroy(hfta_messages *self) {
  for (uint32_t i = 0; i < self->count; ++i) {
    free(self->all[i].messages);
    free(self->all[i].exchanges);
  }
  free(self->all);
}

bool hfta_messages_have(const hfta_messages *self, const hfta_post *post) {
  for (uint32_t i = 0; i < self->count; ++i)
    for (size_t j = 0; j < self->all[i].exchange_count; ++j)
      if (&self->all[i].exchanges[j].post == post)
        return true;
  return false;
}

void hfta_messages_give(hfta_worker *worker, const hfta_command *command,
                        int64_t place) {
  const hfta_messages *self = &worker->messages;
  for (uint32_t i = 0; i < self->count; ++i)
    if (self->all[i].command == command)
      hfta_exchange_give(&self->all[i].exchanges[place], worker->device,
                         command->queue);
}
