//===- issue.c - Issues the commands of a schedule to a device ------------===//

#include "instance/hyper_parameters.h"
#include "program/command_records.h"
#include "schedule/run.h"
#include "schedule/walk.h"

#include <string.h>

static void run_commands(const hfta_walk *self, const hfta_command *commands,
                         uint32_t count);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Returns the number of a segment's instance for the micro-batch `ahead`
/// positions after the current one. The caller must take it modulo the number
/// of instances.
static int64_t find_instance(const hfta_walk *self, uint32_t segment,
                             int64_t ahead) {
  return hfta_worker_instance(self->worker, segment, self->micro_batch + ahead,
                              self->number);
}

/// Returns the address of a segment's instance for the micro-batch `ahead`
/// positions after the current one; NULL if the worker has no memory for the
/// segment.
static void *segment_base(const hfta_walk *self, uint32_t segment,
                          int64_t ahead) {
  const hfta_segment_memory *memory = &self->worker->memory[segment];
  return memory->count
             ? memory
                   ->bases[find_instance(self, segment, ahead) % memory->count]
             : NULL;
}

/// Returns the address of the micro-batch at `place`, of `bytes` bytes, in a
/// data field: in the caller's batch or, after the worker's last micro-batch,
/// in the offered batch. NULL if it need not or can't be copied.
static char *find_field(const hfta_walk *self, uint32_t field, int64_t place,
                        uint64_t bytes) {
  hfta_worker *worker = self->worker;
  const char *batch = hfta_batches_find(&worker->batches, self->call->inputs,
                                        field, place, self->micro_batches);
  if (place >= self->micro_batches)
    place -= self->micro_batches;
  if (!batch)
    return NULL;
  return (char *)(uintptr_t)batch +
         bytes * (uint64_t)worker->share.micro_batches[place];
}

/// Returns the address of the host's image of a segment's instance; NULL if
/// there is no image.
static char *find_image(const hfta_walk *self, uint32_t segment,
                        int64_t ahead) {
  const hfta_segment_memory *memory = &self->worker->memory[segment];
  char *images =
      self->call->images ? self->call->images[segment] : memory->host;
  return images ? images + memory->bytes *
                               ((uint64_t)find_instance(self, segment, ahead) %
                                memory->count)
                : NULL;
}

/// Returns the address of a place for a copy and the micro-batch `ahead`
/// positions after the current one. NULL if the worker has no memory for it, or
/// nothing is to be copied from there.
static char *find_place(const hfta_walk *self, const hfta_place *place,
                        int64_t ahead, uint64_t bytes, int64_t copy) {
  const hfta_schedule_call *call = self->call;
  uint64_t offset = place->offset + place->copy_stride * (uint64_t)copy;
  char *base = NULL;
  switch (place->space) {
  case HFTA_SPACE_SEGMENT:
    base = segment_base(self, place->index, ahead);
    break;
  case HFTA_SPACE_HOST:
    base = find_image(self, place->index, ahead);
    break;
  case HFTA_SPACE_FIELD:
    base = find_field(self, place->index, self->micro_batch + ahead, bytes);
    break;
  case HFTA_SPACE_PORT:
    base = (char *)(uintptr_t)call->inputs[place->index];
    break;
  }
  return base ? base + offset : NULL;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Records that the segments that a task writes now differ from what the store
/// and the host's slabs hold.
static void note_writes(const hfta_walk *self, const hfta_task *task) {
  for (uint32_t i = 0; i < task->write_count; ++i) {
    uint32_t segment = task->writes[i];
    uint32_t count = self->worker->memory[segment].count;
    hfta_host_copies_write(self->worker, segment);
    if (count > 0 && self->worker->program->arena_bytes > 0)
      hfta_spill_write(self->worker, segment,
                       find_instance(self, segment, 0) % count);
  }
}

/// Returns the address of the slab of the first of the current copies; without
/// slabs, of the segment. Slabs of earlier copies come before it where the
/// segment holds more copies than the current ones: in the arena during a turn
/// of several steps, and on a device without room for all copies if the
/// schedule keeps the segment.
static void *first_slab(const hfta_walk *self, uint32_t segment) {
  const hfta_worker *worker = self->worker;
  char *base = segment_base(self, segment, 0);
  if (base && worker->host_copies.most > 0 && worker->keeps[segment])
    return base + worker->program->segments[segment].copy_bytes *
                      (uint64_t)(self->first - self->begin);
  if (!base || worker->program->arena_bytes == 0)
    return base;
  int64_t instance =
      find_instance(self, segment, 0) % self->worker->memory[segment].count;
  return base + hfta_spill_offset(self->worker, segment, instance, self->first);
}

/// Issues a RUN: a task for the current copies.
void hfta_issue_run(const hfta_walk *self, const hfta_command *command) {
  hfta_worker *worker = self->worker;
  const hfta_program *program = worker->program;
  if (program->arena_bytes > 0 || worker->host_copies.most > 0)
    note_writes(self, &program->tasks[command->subject]);
  for (uint32_t i = 0; i < program->segment_count; ++i)
    worker->call_bases[i] = first_slab(self, i);
  hfta_task_call call = {.task = &program->tasks[command->subject],
                         .segments = worker->call_bases,
                         .keeps = worker->host_copies.most > 0
                                      ? worker->host_copies.keeps
                                      : worker->keeps,
                         .copies = self->copies,
                         .slabs = self->slabs,
                         .copy_count = self->copy_count,
                         .micro_batch = self->is_repeated ? self->number : -1,
                         .rows = program->segments};
  worker->device->functions->run(worker->device, command->queue, &call,
                                 command->subject);
}

/// Issues a TRANSFER, or one per copy if its place is one per copy.
void hfta_issue_transfer(const hfta_walk *self, const hfta_command *command) {
  hfta_device *device = self->worker->device;
  // Past the worker's last micro-batch nothing is copied, except from a field
  // of the offered batch.
  bool is_past = command->ahead > 0 &&
                 self->micro_batch + command->ahead >= self->micro_batches;
  if (is_past && command->from.space != HFTA_SPACE_FIELD)
    return;
  bool is_each = command->to.copy_stride != 0 || command->from.copy_stride != 0;
  int64_t count = is_each ? self->copy_count : 1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t copy = is_each ? self->copies[i] : 0;
    char *to =
        find_place(self, &command->to, command->ahead, command->bytes, copy);
    const char *from =
        find_place(self, &command->from, command->ahead, command->bytes, copy);
    if (to && from)
      device->functions->copy(device, command->queue, to, from, command->bytes);
  }
}

/// Issues a FILL of a place in all instances of its segment. In a segment of
/// slabs it fills only the slabs that are allocated.
void hfta_issue_fill(const hfta_walk *self, const hfta_command *command) {
  hfta_device *device = self->worker->device;
  const hfta_place *to = &command->to;
  const hfta_segment_memory *memory = &self->worker->memory[to->index];
  uint64_t left = memory->bytes - to->offset;
  for (uint32_t i = 0; i < memory->count; ++i)
    device->functions->fill(device, command->queue,
                            (char *)memory->bases[i] + to->offset,
                            command->bytes < left ? command->bytes : left);
}

/// Runs commands for one of the worker's own micro-batches, given by its index.
static void run_for(const hfta_walk *self, int64_t micro_batch,
                    const hfta_command *commands, uint32_t count) {
  hfta_walk inner = *self;
  inner.is_repeated = inner.has_place = true;
  inner.micro_batch = micro_batch;
  inner.number = self->worker->share.micro_batches[micro_batch];
  run_commands(&inner, commands, count);
}

/// Runs the body of a REPEAT several times: for each micro-batch, or for each
/// turn of copies.
void hfta_issue_repeat(const hfta_walk *self, const hfta_command *command) {
  hfta_walk inner = *self;
  if (command->subject != HFTA_REPEAT_TURNS)
    inner.is_repeated = true;
  if (command->subject == HFTA_REPEAT_ALL_MICRO_BATCHES) {
    for (inner.number = 0; inner.number < self->call->micro_batches;
         ++inner.number)
      run_commands(&inner, command + 1, command->length);
    return;
  }
  if (command->subject == HFTA_REPEAT_MICRO_BATCHES) {
    for (int64_t m = 0; m < self->micro_batches; ++m)
      run_for(self, m, command + 1, command->length);
    return;
  }
  int64_t turn = command->bytes ? (int64_t)command->bytes : self->turn;
  inner.turn_copies = command->bytes;
  for (int64_t done = 0; done < self->copy_count; done += inner.copy_count) {
    int64_t left = self->copy_count - done;
    inner.copies = self->copies + done;
    inner.first = self->first + done;
    inner.copy_count = left < turn ? left : turn;
    run_commands(&inner, command + 1, command->length);
  }
}

/// Returns whether a copy of this period is due after `steps` steps. During the
/// first period it is also due after each power of two.
static bool is_due(int64_t steps, int64_t period) {
  if (period <= 0)
    return false;
  return steps % period == 0 || (steps < period && (steps & (steps - 1)) == 0);
}

/// Makes a copy the chosen one of this number, with its position in the turn.
static void choose(hfta_worker *worker, int64_t number, int32_t copy,
                   int64_t place) {
  worker->chosen[number] = copy;
  worker->chosen[worker->program->copies + number] = (int32_t)place;
}

/// Runs the body of an EVERY for the copies that are due, or as hfta_due_kind
/// says. EVERYs aren't nested, so that one list of chosen copies is enough.
void hfta_issue_every(const hfta_walk *self, const hfta_command *command) {
  hfta_worker *worker = self->worker;
  const double *periods =
      hfta_instance_hyper_values(worker->instance, command->subject);
  bool is_for_others = command->bytes == HFTA_DUE_OTHERS;
  bool is_for_all =
      command->bytes == HFTA_DUE_ANY || command->bytes == HFTA_DUE_NONE;
  hfta_walk inner = *self;
  int64_t due = 0, chosen = 0;
  for (int64_t i = 0; i < self->copy_count; ++i) {
    int32_t copy = self->copies[i];
    bool is_own = is_due(worker->instance->steps, (int64_t)periods[copy]);
    due += is_own;
    if (!is_for_all && is_own != is_for_others)
      choose(worker, chosen++, copy, i);
  }
  if (!is_for_all) {
    inner.copies = worker->chosen;
    inner.slabs = worker->chosen + worker->program->copies;
    inner.copy_count = chosen;
  } else if ((due > 0) != (command->bytes == HFTA_DUE_ANY)) {
    return;
  }
  if (inner.copy_count > 0)
    run_commands(&inner, command + 1, command->length);
}

/// Returns the CASE with this number in the body of ACTIONS; NULL if there is
/// none.
static const hfta_command *find_case(const hfta_command *actions,
                                     uint32_t number) {
  const hfta_command *commands = actions + 1;
  for (uint32_t i = 0; i < actions->length; i += 1 + commands[i].length)
    if (commands[i].subject == number)
      return &commands[i];
  return NULL;
}

/// Runs the body of an ONLY if this rank has one of the replicas.
void hfta_issue_only(const hfta_walk *self, const hfta_command *command) {
  const hfta_share *share = &self->worker->share;
  hfta_walk inner = *self;
  if (hfta_rank_first_of(&share->stage, share->ranks, share->rank,
                         &command->replicas) >= 0)
    run_commands(&inner, command + 1, command->length);
}

/// Runs the CASEs of ACTIONS in the worker's order, and skips actions for
/// micro-batches that a partial batch lacks.
void hfta_issue_actions(const hfta_walk *self, const hfta_command *command) {
  const hfta_action_list *order =
      &self->worker->program->orders[command->subject];
  for (uint64_t i = 0; i < order->count; ++i) {
    const hfta_action *action = &order->actions[i];
    const hfta_command *found = find_case(command, action->which);
    if (found && action->place < self->micro_batches)
      run_for(self, action->place, found + 1, found->length);
  }
}

/// Issues a SEND or RECEIVE, unless it is for a micro-batch after the worker's
/// last one.
static void exchange(const hfta_walk *self, const hfta_command *command) {
  int64_t place = self->has_place ? self->micro_batch + command->ahead : 0;
  if (!self->has_place || place < self->micro_batches)
    hfta_messages_give(self->worker, command, place);
}

/// Issues a FETCH, EVICT or DROP for one instance of its segment.
static void move_instance(const hfta_walk *self, const hfta_command *command,
                          int64_t instance) {
  hfta_worker *worker = self->worker;
  const hfta_spill_moment moment = {.schedule = self->schedule,
                                    .instance = instance,
                                    .turn_copies = self->turn_copies,
                                    .copies = self->copies,
                                    .first = self->first,
                                    .copy_count = self->copy_count,
                                    .is_ahead = self->call->is_ahead};
  if (command->kind == HFTA_COMMAND_DROP)
    return hfta_spill_drop(worker, command, &moment);
  // If transfers must not overlap with tasks (hfta_spill.waits), earlier tasks
  // end before the transfer, and later ones begin after it.
  hfta_spill_wait(worker);
  if (command->kind == HFTA_COMMAND_FETCH)
    hfta_spill_fetch(worker, command, &moment);
  else
    hfta_spill_evict(worker, command, &moment);
  hfta_spill_wait(worker);
}

/// Issues a FETCH, EVICT or DROP: for the instance of the current micro-batch
/// (or the one `ahead` after it), unless it is after the worker's last one; for
/// all instances if no micro-batch is current.
static void move(const hfta_walk *self, const hfta_command *command) {
  uint32_t segment = command->to.index;
  uint32_t count = self->worker->memory[segment].count;
  bool is_past = self->micro_batch + command->ahead >= self->micro_batches;
  if (!self->has_place) {
    for (uint32_t i = 0; i < count; ++i)
      move_instance(self, command, i);
  } else if (count > 0 && !is_past) {
    move_instance(self, command,
                  find_instance(self, segment, command->ahead) % count);
  }
}

/// Finds the event of a RECORD or AWAIT. Successive micro-batches may use
/// several events round-robin. Returns false after the worker's last
/// micro-batch.
static bool find_event(const hfta_walk *self, const hfta_command *command,
                       uint32_t *event) {
  int64_t place = self->micro_batch + command->ahead;
  *event = command->subject;
  if (!self->has_place)
    return true;
  if (command->bytes > 1)
    *event += (uint32_t)((uint64_t)place % command->bytes);
  return place < self->micro_batches;
}

void hfta_issue_record(const hfta_walk *self, const hfta_command *command) {
  hfta_device *device = self->worker->device;
  uint32_t event;
  if (find_event(self, command, &event))
    device->functions->record(device, command->queue, event);
}

void hfta_issue_await(const hfta_walk *self, const hfta_command *command) {
  hfta_device *device = self->worker->device;
  uint32_t event;
  if (find_event(self, command, &event))
    device->functions->await(device, command->queue, event);
}

void hfta_issue_send(const hfta_walk *self, const hfta_command *command) {
  exchange(self, command);
}

void hfta_issue_receive(const hfta_walk *self, const hfta_command *command) {
  exchange(self, command);
}

void hfta_issue_fetch(const hfta_walk *self, const hfta_command *command) {
  move(self, command);
}

void hfta_issue_evict(const hfta_walk *self, const hfta_command *command) {
  move(self, command);
}

void hfta_issue_drop(const hfta_walk *self, const hfta_command *command) {
  move(self, command);
}

void hfta_issue_broadcast_bytes(const hfta_walk *self,
                                const hfta_command *command) {
  hfta_broadcasts_give(self->worker, command, self->copies, self->copy_count);
}

void hfta_issue_take_group(const hfta_walk *self, const hfta_command *command) {
  hfta_sums_take(self->worker, command, self->copies, self->copy_count);
}

void hfta_issue_all_gather(const hfta_walk *self, const hfta_command *command) {
  hfta_sums_gather(self->worker, command);
}

void hfta_issue_all_reduce(const hfta_walk *self, const hfta_command *command) {
  hfta_sums_add_up(self->worker, self->schedule, command);
}

/// Does nothing: the ACTIONS around it run its body.
void hfta_issue_case(const hfta_walk *self, const hfta_command *command) {
  (void)self, (void)command;
}

/// Issues commands by their records. hfta_program_check has checked that there
/// is a record for each.
static void run_commands(const hfta_walk *self, const hfta_command *commands,
                         uint32_t count) {
  static void (*const functions[])(const hfta_walk *, const hfta_command *) = {
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  [number] = hfta_issue_##word,
      HFTA_COMMANDS
#undef HFTA_COMMAND
  };
  for (uint32_t i = 0; i < count; i += 1 + commands[i].length)
    functions[commands[i].kind](self, &commands[i]);
}

static bool reads_fields(const hfta_schedule *schedule) {
  for (uint32_t i = 0; i < schedule->command_count; ++i)
    if (hfta_command_reads(&schedule->commands[i], HFTA_SPACE_FIELD))
      return true;
  return false;
}

hfta_status hfta_worker_run(hfta_worker *worker,
                            const hfta_schedule_call *call) {
  const hfta_program *program = worker->program;
  const hfta_instance *instance = worker->instance;
  const hfta_schedule *schedule = hfta_program_find_stage_schedule(
      program, call->name, worker->workload.stage);
  if (!schedule)
    return hfta_fail(&worker->error, HFTA_USAGE,
                     "'%s' was compiled without the schedule '%s'",
                     program->name, call->name);
  memset(worker->keeps, 0, sizeof(bool) * program->segment_count);
  for (uint32_t i = 0; i < schedule->keep_count; ++i)
    worker->keeps[schedule->keeps[i]] = true;
  hfta_turns *turns = &worker->turns[schedule - program->schedules];
  hfta_turn turn = hfta_instance_turn(instance);
  hfta_walk self = {
      .worker = worker,
      .call = call,
      .schedule = schedule,
      .turn = turns->width,
      .micro_batches = hfta_share_count(&worker->share, call->micro_batches),
      .copies = call->copies ? call->copies : instance->live + turn.first,
      .first = call->copies ? call->first : turn.first,
      .copy_count = call->copies ? call->copy_count : turn.copies};
  self.begin = self.first;
  bool takes_batch = reads_fields(schedule);
  if (takes_batch)
    hfta_batches_begin(&worker->batches, schedule, call->inputs);
  else if (!call->is_posted)
    worker->batches.count = 0; // a port's data may be where a field's was
  worker->spill.failure = HFTA_OK;
  double begin = instance->now();
  hfta_host_copies_bring(worker, self.copies, self.copy_count);
  run_commands(&self, schedule->commands, schedule->command_count);
  hfta_error later;
  hfta_status failure = worker->spill.failure;
  if (call->is_posted) {
    // A posted call isn't timed, as the host doesn't wait for it. It only
    // counts as a call, until the search for the width of turns is repeated.
    if (turns->is_settled)
      hfta_turns_took(turns, 0.0);
    if (takes_batch)
      hfta_batches_end(&worker->batches, self.micro_batches,
                       failure != HFTA_OK);
    return failure;
  }
  hfta_status status = worker->device->functions->wait_for(
      worker->device, call->queues ? call->queues : UINT64_MAX,
      failure == HFTA_OK ? &worker->error : &later);
  status = failure == HFTA_OK ? status : failure;
  // A call for a partial batch isn't timed, as it takes less time with any
  // width of turns.
  if (status == HFTA_OK && call->micro_batches == program->micro_batches)
    hfta_turns_took(turns, instance->now() - begin);
  hfta_spill_settle(worker);
  if (status != HFTA_OK) {
    hfta_spill_forget(worker);
    hfta_host_copies_lose(worker);
  }
  if (takes_batch)
    hfta_batches_end(&worker->batches, self.micro_batches, status != HFTA_OK);
  return status;
}
