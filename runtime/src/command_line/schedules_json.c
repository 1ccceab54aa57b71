//===- schedules_json.c - A program's schedules as JSON -------------------===//

#include "command_line/schedules_json.h"
#include "command_line/print_schedules.h"
#include "program/command_records.h"

/// Returns the name of the segment, data field or input that a place is in; ""
/// for a place in the arena.
static const char *get_place_name(const hfta_program *program,
                                  const hfta_place *place) {
  switch ((hfta_space)place->space) {
  case HFTA_SPACE_SEGMENT:
  case HFTA_SPACE_HOST:
    return program->segments[place->index].name;
  case HFTA_SPACE_FIELD:
    return program->data_fields[place->index].name;
  case HFTA_SPACE_PORT:
    return program->inputs[place->index].name;
  case HFTA_SPACE_ARENA:
    return "";
  }
  return "";
}

static void put_place(hfta_json_writer *writer, const char *key,
                      const hfta_program *program, const hfta_place *place) {
  hfta_json_key(writer, key);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "space", hfta_space_word(place->space));
  hfta_json_put_unsigned(writer, "index", place->index);
  hfta_json_put_string(writer, "name", get_place_name(program, place));
  hfta_json_put_unsigned(writer, "offset", place->offset);
  hfta_json_put_unsigned(writer, "copy_stride", place->copy_stride);
  hfta_json_end_object(writer);
}

void hfta_put_replicas(hfta_json_writer *writer, const char *key,
                       const hfta_replicas *replicas) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < replicas->count; ++i)
    hfta_json_integer(writer,
                      (int64_t)replicas->first + (int64_t)i * replicas->stride);
  hfta_json_end_array(writer);
}

static void put_commands(hfta_json_writer *writer, const hfta_program *program,
                         const hfta_command *commands, uint32_t count);

/// Writes the entries of `hfta.actions`: pairs of a case and a micro-batch's
/// place.
static void put_order(hfta_json_writer *writer, const char *key,
                      const hfta_action_list *order) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (uint64_t i = 0; i < order->count; ++i) {
    hfta_json_begin_array(writer);
    hfta_json_integer(writer, order->actions[i].which);
    hfta_json_integer(writer, order->actions[i].place);
    hfta_json_end_array(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes a member of a command that counts for its kind.
static void put_field(hfta_json_writer *writer, const hfta_program *program,
                      const hfta_command *command,
                      const hfta_command_field *field) {
  const char *key = field->key;
  switch (field->kind) {
  case HFTA_FIELD_TASK:
    hfta_json_put_string(writer, key, program->tasks[command->subject].name);
    return;
  case HFTA_FIELD_EVENT:
  case HFTA_FIELD_STAGE:
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_GROUP:
    hfta_json_put_unsigned(writer, key, command->subject);
    return;
  case HFTA_FIELD_REPEAT_KIND:
    hfta_json_put_string(writer, key, hfta_repeat_kind_word(command->subject));
    return;
  case HFTA_FIELD_PERIOD:
    hfta_json_put_string(writer, key,
                         program->hyper_parameters[command->subject].name);
    return;
  case HFTA_FIELD_ORDER:
    put_order(writer, key, &program->orders[command->subject]);
    return;
  case HFTA_FIELD_CONTENTS:
    hfta_json_put_string(writer, key, hfta_contents_word(command->subject));
    return;
  case HFTA_FIELD_AHEAD:
    hfta_json_put_integer(writer, key, command->ahead);
    return;
  case HFTA_FIELD_TO:
  case HFTA_FIELD_AT:
  case HFTA_FIELD_AT_COPIES:
  case HFTA_FIELD_SUMS:
    put_place(writer, key, program, &command->to);
    return;
  case HFTA_FIELD_FROM:
  case HFTA_FIELD_RECEIVED:
    put_place(writer, key, program, &command->from);
    return;
  case HFTA_FIELD_SEGMENT:
    hfta_json_put_unsigned(writer, key, command->to.index);
    hfta_json_put_string(writer, "name",
                         program->segments[command->to.index].name);
    return;
  case HFTA_FIELD_ADDRESS:
    hfta_json_put_unsigned(writer, key, command->from.offset);
    return;
  case HFTA_FIELD_COPIES:
    if (command->bytes > 0)
      hfta_json_put_unsigned(writer, key, command->bytes);
    return;
  case HFTA_FIELD_BYTES:
  case HFTA_FIELD_EVENTS:
  case HFTA_FIELD_PLACES:
    hfta_json_put_unsigned(writer, key, command->bytes);
    return;
  case HFTA_FIELD_DUE:
    hfta_json_put_string(writer, key, hfta_due_kind_word(command->bytes));
    return;
  case HFTA_FIELD_REPLICAS:
    hfta_put_replicas(writer, key, &command->replicas);
    return;
  case HFTA_FIELD_RECEIVERS:
    hfta_put_replicas(writer, key, &command->receivers);
    return;
  }
}

/// Writes the members of a command's object, and last its queue or the commands
/// of its body.
static void put_members(hfta_json_writer *writer, const hfta_program *program,
                        const hfta_command *command) {
  const hfta_command_record *record = hfta_find_command_record(command->kind);
  for (uint32_t i = 0; i < record->field_count; ++i)
    if (record->fields[i].key)
      put_field(writer, program, command, &record->fields[i]);
  if (record->flags & HFTA_COMMAND_HAS_BODY) {
    put_commands(writer, program, command + 1, command->length);
    return;
  }
  hfta_json_put_unsigned(writer, "device", command->device);
  hfta_json_put_unsigned(writer, "queue", command->queue);
}

static void put_commands(hfta_json_writer *writer, const hfta_program *program,
                         const hfta_command *commands, uint32_t count) {
  hfta_json_key(writer, "commands");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < count; i += 1 + commands[i].length) {
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "command",
                         hfta_find_command_record(commands[i].kind)->word);
    put_members(writer, program, &commands[i]);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

void hfta_put_schedules(hfta_json_writer *writer, const hfta_program *program) {
  hfta_json_key(writer, "schedules");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < program->schedule_count; ++i) {
    const hfta_schedule *schedule = &program->schedules[i];
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", schedule->name);
    hfta_json_put_integer(writer, "stage", schedule->stage);
    hfta_json_key(writer, "keeps");
    hfta_json_begin_array(writer);
    for (uint32_t j = 0; j < schedule->keep_count; ++j)
      hfta_json_string(writer, program->segments[schedule->keeps[j]].name);
    hfta_json_end_array(writer);
    put_commands(writer, program, schedule->commands, schedule->command_count);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}
