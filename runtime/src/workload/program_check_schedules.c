//===- program_check_schedules.c - Checks of a program's schedules --------===//

#include "program/command_records.h"
#include "program/fetches.h"
#include "workload/program_check.h"

#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static hfta_status check_stage(const hfta_program *program, uint32_t index,
                               hfta_error *error) {
  const hfta_stage *stage = &program->stages[index];
  if (stage->replicas >= 1 && stage->groups >= stage->replicas &&
      program->micro_batches >= stage->groups)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INTERNAL,
                   "program '%s': stage %u has %lld micro-batches in %lld "
                   "groups for %lld replicas",
                   program->name, index, (long long)program->micro_batches,
                   (long long)stage->groups, (long long)stage->replicas);
}

/// Checks that the workers of several stages have distinct positions
/// (hfta_program.worker_places).
static hfta_status check_places(const hfta_program *program,
                                hfta_error *error) {
  const int64_t *places = program->worker_places;
  bool is_sound = !places || program->stage_count > 1;
  for (int64_t i = 0; places && is_sound && i < program->workers; ++i) {
    is_sound = places[i] >= 0 && places[i] < program->workers;
    for (int64_t j = 0; is_sound && j < i; ++j)
      is_sound = places[i] != places[j];
  }
  return is_sound ? HFTA_OK
                  : hfta_fail(error, HFTA_INTERNAL,
                              "program '%s': the places of its %lld workers "
                              "aren't the numbers from 0 on, each once",
                              program->name, (long long)program->workers);
}

/// Returns whether a set of replicas is valid for a stage. Stage -1 is the
/// single stage of a program, or any of several stages; then all workers count
/// as replicas, since a single rank may run the whole program.
static bool are_sound_replicas(const hfta_program *program, int32_t stage,
                               const hfta_replicas *replicas) {
  uint64_t all = (uint64_t)(stage < 0 ? program->workers
                                      : program->stages[stage].replicas);
  return replicas->count > 0 && replicas->stride > 0 &&
         (uint64_t)replicas->first +
                 (replicas->count - (uint64_t)1) * replicas->stride <
             all;
}

static hfta_status check_holders(const hfta_program *program,
                                 const hfta_segment *segment,
                                 hfta_error *error) {
  int32_t count = (int32_t)program->stage_count;
  if (segment->stage < -1 || segment->stage >= count)
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': segment '%s' belongs to stage %d, but "
                     "there are %d stages",
                     program->name, segment->name, segment->stage, count);
  if (segment->holders.count > 0 &&
      !are_sound_replicas(program, segment->stage, &segment->holders))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': segment '%s' is held by %u replicas from "
                     "%u on, %u apart, but its stage has fewer",
                     program->name, segment->name, segment->holders.count,
                     segment->holders.first, segment->holders.stride);
  return HFTA_OK;
}

static hfta_status check_stages(const hfta_program *program,
                                hfta_error *error) {
  hfta_status status = HFTA_OK;
  int64_t workers = 0;
  for (uint32_t i = 0; i < program->stage_count && status == HFTA_OK; ++i) {
    status = check_stage(program, i, error);
    if (status == HFTA_OK &&
        __builtin_add_overflow(workers, program->stages[i].replicas, &workers))
      workers = -1;
  }
  if (status == HFTA_OK && (workers < 1 || program->workers != workers))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': %lld workers in %u stages, which have %lld "
                     "replicas",
                     program->name, (long long)program->workers,
                     program->stage_count, (long long)workers);
  if (status == HFTA_OK)
    status = check_places(program, error);
  for (uint32_t i = 0; i < program->segment_count && status == HFTA_OK; ++i)
    status = check_holders(program, &program->segments[i], error);
  return status;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Returns whether a place lies within its segment, no matter whether the
/// segment is resident or in the arena.
static bool is_within_segment(const hfta_program *program,
                              const hfta_place *place, uint64_t bytes) {
  return place->index < program->segment_count &&
         place->offset <= program->segments[place->index].bytes &&
         bytes <= program->segments[place->index].bytes - place->offset;
}

/// Returns whether `bytes` bytes can be read or written at a place. A segment
/// must be resident.
static bool is_sound_place(const hfta_program *program, const hfta_place *place,
                           uint64_t bytes) {
  switch (place->space) {
  case HFTA_SPACE_SEGMENT:
  case HFTA_SPACE_HOST:
    return is_within_segment(program, place, bytes) &&
           program->segments[place->index].residency == HFTA_RESIDENT;
  case HFTA_SPACE_FIELD:
    return place->index < hfta_program_field_count(program);
  case HFTA_SPACE_PORT:
    return place->index < program->input_count;
  default:
    return false;
  }
}

/// Returns whether a command's place, or one such place per copy if it has a
/// stride, lies within its segment for all copies.
static bool is_sound_for_copies(const hfta_program *program,
                                const hfta_command *command) {
  const hfta_place *to = &command->to;
  uint64_t end = 0;
  return to->space == HFTA_SPACE_SEGMENT && command->bytes > 0 &&
         !__builtin_mul_overflow(to->copy_stride, (uint64_t)program->copies - 1,
                                 &end) &&
         !__builtin_add_overflow(end, command->bytes, &end) &&
         is_sound_place(program, to, end);
}

/// Returns whether the place in the arena of a FETCH has room there for all
/// instances.
static bool is_sound_address(const hfta_program *program,
                             const hfta_schedule *schedule,
                             const hfta_command *command) {
  if (command->to.index >= program->segment_count ||
      command->from.space != HFTA_SPACE_ARENA ||
      command->from.offset % HFTA_PAGE_BYTES != 0 || command->bytes < 1)
    return false;
  uint64_t end = hfta_fetch_end(program, schedule, command);
  return end > 0 && end <= program->arena_bytes;
}

/// Returns whether the sums of an ALL_REDUCE are whole blocks in a segment. The
/// segment may be in the arena, if an earlier FETCH has put it there.
static bool are_sound_sums(const hfta_program *program,
                           const hfta_schedule *schedule,
                           const hfta_command *command) {
  const hfta_place *to = &command->to;
  if (to->space != HFTA_SPACE_SEGMENT || to->copy_stride == 0 ||
      command->bytes % to->copy_stride != 0 ||
      !is_within_segment(program, to, command->bytes))
    return false;
  return program->segments[to->index].residency == HFTA_RESIDENT ||
         hfta_find_fetch(schedule, command, to->index);
}

/// Returns whether the body of ACTIONS consists of CASEs only, and has one for
/// each action.
static bool are_sound_actions(const hfta_program *program,
                              const hfta_command *command) {
  const hfta_command *body = command + 1;
  uint32_t end = 0;
  if (command->subject >= program->order_count)
    return false;
  while (end < command->length && body[end].kind == HFTA_COMMAND_CASE &&
         body[end].length < command->length - end)
    end += 1 + body[end].length;
  const hfta_action_list *order = &program->orders[command->subject];
  bool sound = end == command->length;
  for (uint64_t i = 0; sound && i < order->count; ++i) {
    uint32_t at = 0;
    while (at < end && body[at].subject != order->actions[i].which)
      at += 1 + body[at].length;
    sound = at < end;
  }
  return sound;
}

/// Returns whether a member of a command is valid. The body of ACTIONS must lie
/// within the schedule.
static bool is_sound_field(const hfta_program *program,
                           const hfta_schedule *schedule,
                           const hfta_command *command,
                           hfta_command_field_kind kind) {
  const hfta_place *to = &command->to, *from = &command->from;
  uint32_t subject = command->subject;
  switch (kind) {
  case HFTA_FIELD_TASK:
    return subject < program->task_count;
  case HFTA_FIELD_EVENT:
    return subject < program->event_count;
  case HFTA_FIELD_EVENTS:
    return subject < program->event_count &&
           command->bytes <= program->event_count - subject;
  case HFTA_FIELD_REPEAT_KIND:
    return subject <= HFTA_REPEAT_ALL_MICRO_BATCHES;
  case HFTA_FIELD_COPIES:
    return command->bytes == 0 || subject == HFTA_REPEAT_TURNS;
  case HFTA_FIELD_PERIOD:
    return subject < program->hyper_parameter_count;
  case HFTA_FIELD_DUE:
    return command->bytes <= HFTA_DUE_NONE;
  case HFTA_FIELD_STAGE:
    return subject < program->stage_count && schedule->stage >= 0 &&
           (int32_t)subject != schedule->stage;
  case HFTA_FIELD_ORDER:
    return are_sound_actions(program, command);
  case HFTA_FIELD_GROUP:
    return (int64_t)subject <
           program->stages[schedule->stage < 0 ? 0 : schedule->stage].groups;
  case HFTA_FIELD_CONTENTS:
    return subject <= HFTA_CONTENTS_UNDEFINED;
  case HFTA_FIELD_AHEAD:
    return command->ahead >= 0;
  case HFTA_FIELD_FROM:
    return is_sound_place(program, from, command->bytes);
  case HFTA_FIELD_TO:
    return is_sound_place(program, to, command->bytes);
  case HFTA_FIELD_AT:
    return to->space == HFTA_SPACE_SEGMENT &&
           is_sound_place(program, to, command->bytes);
  case HFTA_FIELD_AT_COPIES:
    return is_sound_for_copies(program, command);
  case HFTA_FIELD_SUMS:
    return are_sound_sums(program, schedule, command);
  case HFTA_FIELD_RECEIVED:
    return from->space == HFTA_SPACE_SEGMENT &&
           is_sound_place(program, from, to->copy_stride);
  case HFTA_FIELD_SEGMENT:
    return to->space == HFTA_SPACE_SEGMENT &&
           to->index < program->segment_count &&
           program->segments[to->index].residency != HFTA_RESIDENT;
  case HFTA_FIELD_ADDRESS:
    return is_sound_address(program, schedule, command);
  case HFTA_FIELD_PLACES:
    return to->index < program->segment_count && command->bytes >= 1 &&
           command->bytes <= program->segments[to->index].instances;
  case HFTA_FIELD_REPLICAS:
    return are_sound_replicas(program, schedule->stage, &command->replicas);
  case HFTA_FIELD_RECEIVERS:
    return are_sound_replicas(program, schedule->stage, &command->receivers);
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_BYTES: // checked together with the place
    return true;
  }
  return false;
}

/// Returns whether a stage can write the segment for another one.
static bool may_be_sent(const hfta_program *program,
                        const hfta_command *command) {
  switch (program->segments[command->to.index].role) {
  case HFTA_SEGMENT_CONSTANTS:
  case HFTA_SEGMENT_SCRATCH:
  case HFTA_SEGMENT_INPUT:
  case HFTA_SEGMENT_RECEIVED:
    return false;
  default:
    return true;
  }
}

/// Returns whether a FETCH or EVICT may move its segment to or from the store:
/// on a queue other than 0, on which the host works itself.
static bool is_stored(const hfta_program *program,
                      const hfta_command *command) {
  return program->segments[command->to.index].residency == HFTA_SPILLED &&
         command->queue > 0;
}

/// Returns whether a command of valid members has what only its kind requires.
/// Most kinds require nothing more.
static bool is_sound_kind(const hfta_program *program,
                          const hfta_command *command) {
  switch (command->kind) {
  case HFTA_COMMAND_SEND:
  case HFTA_COMMAND_RECEIVE:
    return may_be_sent(program, command);
  case HFTA_COMMAND_TAKE_GROUP:
    return program->segments[command->to.index].role == HFTA_SEGMENT_MOMENTS;
  case HFTA_COMMAND_FETCH:
    return command->subject != HFTA_CONTENTS_STORED ||
           is_stored(program, command);
  case HFTA_COMMAND_EVICT:
    return is_stored(program, command);
  default:
    return true;
  }
}

/// Returns whether a command is valid on its own; `left` is the number of
/// commands that follow it in the schedule. Whether a CASE stands in the body
/// of ACTIONS is checked elsewhere (are_sound_commands).
static bool is_sound_command(const hfta_program *program,
                             const hfta_schedule *schedule,
                             const hfta_command *command, uint32_t left) {
  const hfta_command_record *record = hfta_find_command_record(command->kind);
  uint32_t body = record->flags & HFTA_COMMAND_HAS_BODY ? left : 0;
  bool sound = record->field_count > 0 && command->device == 0 &&
               command->queue < program->queue_count && command->length <= body;
  if (record->flags & HFTA_COMMAND_MEETS)
    sound = sound && command->queue > 0;
  for (uint32_t i = 0; sound && i < record->field_count; ++i)
    sound = is_sound_field(program, schedule, command, record->fields[i].kind);
  return sound && is_sound_kind(program, command);
}

/// Returns whether the body of a command must not contain one that meets
/// others, because these can't know how often the body runs: several times, but
/// not once for each of the worker's micro-batches, or on some replicas only.
static bool bars(const hfta_command *outer, const hfta_command *command) {
  return outer->kind == HFTA_COMMAND_ONLY ||
         (outer->kind == HFTA_COMMAND_REPEAT &&
          outer->subject != HFTA_REPEAT_MICRO_BATCHES &&
          !hfta_command_is(command, HFTA_COMMAND_TAKES_TURNS));
}

/// Returns whether a command stands in the body of another one that bars it.
static bool is_barred(const hfta_schedule *schedule,
                      const hfta_command *command) {
  for (const hfta_command *outer = schedule->commands; outer < command; ++outer)
    if (outer->length >= command - outer && bars(outer, command))
      return true;
  return false;
}

/// Returns whether the commands of a schedule are valid: each on its own, CASEs
/// only directly in the body of ACTIONS, and those that meet others only where
/// they are allowed.
static bool are_sound_commands(const hfta_program *program,
                               const hfta_schedule *schedule) {
  uint32_t end = 0, next = 0; // end of the body of ACTIONS, and its next CASE
  for (uint32_t i = 0; i < schedule->command_count; ++i) {
    const hfta_command *command = &schedule->commands[i];
    if (!is_sound_command(program, schedule, command,
                          schedule->command_count - i - 1))
      return false;
    if (hfta_command_is(command, HFTA_COMMAND_MEETS) &&
        is_barred(schedule, command))
      return false;
    bool is_case = i < end && i == next;
    bool is_inside = i < end;
    if (is_case != (command->kind == HFTA_COMMAND_CASE) ||
        (is_inside && command->kind == HFTA_COMMAND_ACTIONS))
      return false;
    if (is_case)
      next = i + 1 + command->length;
    if (command->kind == HFTA_COMMAND_ACTIONS) {
      next = i + 1;
      end = next + command->length;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static hfta_status check_schedule(const hfta_program *program,
                                  const hfta_schedule *schedule,
                                  hfta_error *error) {
  int32_t last =
      program->stage_count > 1 ? (int32_t)program->stage_count - 1 : -1;
  bool sound = schedule->stage >= -1 && schedule->stage <= last;
  for (uint32_t i = 0; sound && i < schedule->keep_count; ++i)
    sound = schedule->keeps[i] < program->segment_count;
  if (sound && are_sound_commands(program, schedule))
    return HFTA_OK;
  char stage[32] = "";
  if (schedule->stage != -1)
    snprintf(stage, sizeof(stage), " of stage %d", schedule->stage);
  return hfta_fail(error, HFTA_INTERNAL,
                   "program '%s': schedule '%s'%s is invalid", program->name,
                   schedule->name, stage);
}

/// Returns whether a schedule of this name exists for all stages or for none.
static bool is_whole(const hfta_program *program, const char *name) {
  uint32_t count = 0;
  if (program->stage_count == 1)
    return true;
  for (uint32_t i = 0; i < program->stage_count; ++i)
    count +=
        hfta_program_find_stage_schedule(program, name, (int32_t)i) != NULL;
  return count == 0 || count == program->stage_count;
}

/// Returns whether a schedule begins with a REPEAT over turns that gives the
/// number of copies of a turn.
static bool begins_with_turns(const hfta_schedule *schedule) {
  return schedule->command_count > 0 &&
         schedule->commands->kind == HFTA_COMMAND_REPEAT &&
         schedule->commands->subject == HFTA_REPEAT_TURNS &&
         schedule->commands->bytes > 0;
}

/// Returns whether the schedules for turns of several steps (window.h) are
/// complete, and begin turns of the same width.
static bool has_sound_turns(const hfta_program *program) {
  const hfta_schedule *begin =
      hfta_program_find_schedule(program, "begin_turn");
  if (!begin || !hfta_program_find_schedule(program, "turn_step") ||
      !hfta_program_find_schedule(program, "end_turn"))
    return !begin && !hfta_program_find_schedule(program, "turn_step") &&
           !hfta_program_find_schedule(program, "end_turn");
  const hfta_schedule *beside =
      hfta_program_find_schedule(program, "begin_turn_beside");
  return begins_with_turns(begin) &&
         (!beside || (begins_with_turns(beside) &&
                      beside->commands->bytes == begin->commands->bytes));
}

hfta_status hfta_program_check_schedules(const hfta_program *program,
                                         hfta_error *error) {
  hfta_status status = check_stages(program, error);
  for (uint32_t i = 0; i < program->schedule_count && status == HFTA_OK; ++i)
    status = check_schedule(program, &program->schedules[i], error);
  for (uint32_t i = 0; i < program->schedule_count && status == HFTA_OK; ++i)
    if (!is_whole(program, program->schedules[i].name))
      status = hfta_fail(error, HFTA_INTERNAL,
                         "program '%s': not every stage has the schedule '%s'",
                         program->name, program->schedules[i].name);
  if (status != HFTA_OK)
    return status;
  if (!hfta_program_find_stage_schedule(program, "initialize", -1) ||
      !has_sound_turns(program))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': its schedules can't be run", program->name);
  if (hfta_program_trains(program) &&
      (program->roles.loss == UINT32_MAX ||
       program->roles.learning_rate == UINT32_MAX))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s': loss or learning rate has no tensor",
                     program->name);
  return HFTA_OK;
}
