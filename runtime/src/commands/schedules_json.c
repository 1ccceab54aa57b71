//===- schedules_json.c - A program's schedules as JSON -------------------===//

#include "commands/schedules_json.h"
#include "commands/print_schedules.h"

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

static void put_queue(hfta_json_writer *writer, const hfta_command *command) {
  hfta_json_put_unsigned(writer, "device", command->device);
  hfta_json_put_unsigned(writer, "queue", command->queue);
}

/// Writes the segment of a FETCH, EVICT or DROP, and how many micro-batches
/// ahead of the current one it is.
static void put_segment(hfta_json_writer *writer, const hfta_program *program,
                        const hfta_command *command) {
  hfta_json_put_unsigned(writer, "segment", command->to.index);
  hfta_json_put_string(writer, "name",
                       program->segments[command->to.index].name);
  hfta_json_put_integer(writer, "ahead", command->ahead);
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
static void put_order(hfta_json_writer *writer, const hfta_action_list *order) {
  hfta_json_key(writer, "order");
  hfta_json_begin_array(writer);
  for (uint64_t i = 0; i < order->count; ++i) {
    hfta_json_begin_array(writer);
    hfta_json_integer(writer, order->actions[i].which);
    hfta_json_integer(writer, order->actions[i].place);
    hfta_json_end_array(writer);
  }
  hfta_json_end_array(writer);
}

/// Writes the members of a command's object that depend on its kind, and last
/// the commands of its body, if it has one.
static void put_members(hfta_json_writer *writer, const hfta_program *program,
                        const hfta_command *command) {
  switch ((hfta_command_kind)command->kind) {
  case HFTA_COMMAND_RUN:
    hfta_json_put_string(writer, "task", program->tasks[command->subject].name);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_TRANSFER:
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "from", program, &command->from);
    put_place(writer, "to", program, &command->to);
    hfta_json_put_integer(writer, "ahead", command->ahead);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_FILL:
  case HFTA_COMMAND_ALL_GATHER:
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "to", program, &command->to);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_BROADCAST:
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "at", program, &command->to);
    hfta_put_replicas(writer, "from", &command->replicas);
    hfta_put_replicas(writer, "to", &command->receivers);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_TAKE_GROUP:
    hfta_json_put_unsigned(writer, "group", command->subject);
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "at", program, &command->to);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_SEND:
  case HFTA_COMMAND_RECEIVE:
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "at", program, &command->to);
    hfta_json_put_unsigned(writer, "stage", command->subject);
    hfta_json_put_integer(writer, "ahead", command->ahead);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_ALL_REDUCE:
    hfta_json_put_string(writer, "task", program->tasks[command->subject].name);
    hfta_json_put_unsigned(writer, "bytes", command->bytes);
    put_place(writer, "at", program, &command->to);
    put_place(writer, "through", program, &command->from);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_FETCH:
    put_segment(writer, program, command);
    hfta_json_put_unsigned(writer, "address", command->from.offset);
    hfta_json_put_string(writer, "contents",
                         hfta_contents_word(command->subject));
    hfta_json_put_unsigned(writer, "instances", command->bytes);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_EVICT:
  case HFTA_COMMAND_DROP:
    put_segment(writer, program, command);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_RECORD:
  case HFTA_COMMAND_AWAIT:
    hfta_json_put_unsigned(writer, "event", command->subject);
    hfta_json_put_unsigned(writer, "instances", command->bytes);
    hfta_json_put_integer(writer, "ahead", command->ahead);
    put_queue(writer, command);
    return;
  case HFTA_COMMAND_REPEAT:
    hfta_json_put_string(writer, "over",
                         hfta_repeat_kind_word(command->subject));
    if (command->bytes > 0)
      hfta_json_put_unsigned(writer, "copies", command->bytes);
    put_commands(writer, program, command + 1, command->length);
    return;
  case HFTA_COMMAND_EVERY:
    hfta_json_put_string(writer, "period",
                         program->hyper_parameters[command->subject].name);
    hfta_json_put_string(writer, "for", hfta_due_kind_word(command->bytes));
    put_commands(writer, program, command + 1, command->length);
    return;
  case HFTA_COMMAND_ACTIONS:
    put_order(writer, &program->orders[command->subject]);
    put_commands(writer, program, command + 1, command->length);
    return;
  case HFTA_COMMAND_CASE:
    put_commands(writer, program, command + 1, command->length);
    return;
  case HFTA_COMMAND_ONLY:
    hfta_put_replicas(writer, "replicas", &command->replicas);
    put_commands(writer, program, command + 1, command->length);
    return;
  }
}

static void put_commands(hfta_json_writer *writer, const hfta_program *program,
                         const hfta_command *commands, uint32_t count) {
  hfta_json_key(writer, "commands");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < count; i += 1 + commands[i].length) {
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "command",
                         hfta_command_word(commands[i].kind));
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
