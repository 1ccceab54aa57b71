//===- print_schedules.c - A program's schedules as text ------------------===//

#include "command_line/print_schedules.h"

#include "program/command_records.h"

#include <stdio.h>

const char *hfta_space_word(uint32_t space) {
  switch ((hfta_space)space) {
  case HFTA_SPACE_SEGMENT:
    return "segment";
  case HFTA_SPACE_HOST:
    return "host";
  case HFTA_SPACE_FIELD:
    return "field";
  case HFTA_SPACE_PORT:
    return "port";
  case HFTA_SPACE_ARENA:
    return "arena";
  }
  return "?";
}

const char *hfta_repeat_kind_word(uint32_t kind) {
  switch ((hfta_repeat_kind)kind) {
  case HFTA_REPEAT_MICRO_BATCHES:
    return "micro_batches";
  case HFTA_REPEAT_TURNS:
    return "turns";
  case HFTA_REPEAT_ALL_MICRO_BATCHES:
    return "all_micro_batches";
  }
  return "?";
}

const char *hfta_due_kind_word(uint64_t kind) {
  switch ((hfta_due_kind)kind) {
  case HFTA_DUE:
    return "due";
  case HFTA_DUE_OTHERS:
    return "others";
  case HFTA_DUE_ANY:
    return "any";
  case HFTA_DUE_NONE:
    return "none";
  }
  return "?";
}

const char *hfta_contents_word(uint32_t contents) {
  switch ((hfta_contents)contents) {
  case HFTA_CONTENTS_STORED:
    return "stored";
  case HFTA_CONTENTS_ZEROS:
    return "zeros";
  case HFTA_CONTENTS_UNDEFINED:
    return "undefined";
  }
  return "?";
}

const char *hfta_residency_word(uint32_t residency) {
  switch ((hfta_residency)residency) {
  case HFTA_RESIDENT:
    return "resident";
  case HFTA_TRANSIENT:
    return "transient";
  case HFTA_SPILLED:
    return "spilled";
  }
  return "?";
}

static void print_place(const hfta_place *place) {
  printf("<%s, %u, %llu", hfta_space_word(place->space), place->index,
         (unsigned long long)place->offset);
  if (place->copy_stride)
    printf(", %llu", (unsigned long long)place->copy_stride);
  printf(">");
}

static void print_replicas(const hfta_replicas *replicas) {
  printf("<%u, %u, %u>", replicas->first, replicas->count, replicas->stride);
}

/// Prints members whose values aren't 0, which is the default: the current
/// micro-batch, the first device and its first queue.
static void print_attributes(const hfta_command *command) {
  bool has_instances = hfta_command_has(command, HFTA_FIELD_EVENTS) ||
                       hfta_command_has(command, HFTA_FIELD_PLACES);
  const struct {
    const char *name;
    long long value;
  } all[] = {{"ahead", command->ahead},
             {"device", command->device},
             {"instances", has_instances && command->bytes > 1
                               ? (long long)command->bytes
                               : 0},
             {"queue", command->queue}};
  const char *before = " {";
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    if (all[i].value == 0)
      continue;
    printf("%s%s = %lld : i64", before, all[i].name, all[i].value);
    before = ", ";
  }
  printf("%s\n", *before == ',' ? "}" : "");
}

/// Prints the entries of `hfta.actions`: pairs of a case and a micro-batch's
/// place.
static void print_order(const hfta_action_list *order) {
  printf("[");
  for (uint64_t i = 0; i < order->count; ++i)
    printf("%s%u, %u", i ? ", " : "", order->actions[i].which,
           order->actions[i].place);
  printf("]");
}

/// Returns whether a member's value isn't printed, because it is the default.
static bool is_default(const hfta_command *command,
                       hfta_command_field_kind kind) {
  return (kind == HFTA_FIELD_COPIES && command->bytes == 0) ||
         (kind == HFTA_FIELD_DUE && command->bytes == HFTA_DUE);
}

/// Prints the value of a member of a command.
static void print_field(const hfta_program *program,
                        const hfta_command *command,
                        hfta_command_field_kind kind) {
  switch (kind) {
  case HFTA_FIELD_TASK:
    printf("@\"task/%s\"", program->tasks[command->subject].name);
    break;
  case HFTA_FIELD_EVENT:
  case HFTA_FIELD_STAGE:
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_GROUP:
    printf("%u", command->subject);
    break;
  case HFTA_FIELD_REPEAT_KIND:
    printf("%s", hfta_repeat_kind_word(command->subject));
    break;
  case HFTA_FIELD_PERIOD:
    printf("\"%s\"", program->hyper_parameters[command->subject].name);
    break;
  case HFTA_FIELD_ORDER:
    print_order(&program->orders[command->subject]);
    break;
  case HFTA_FIELD_CONTENTS:
    printf("%s", hfta_contents_word(command->subject));
    break;
  case HFTA_FIELD_AHEAD:
    printf("%d", command->ahead);
    break;
  case HFTA_FIELD_TO:
  case HFTA_FIELD_AT:
  case HFTA_FIELD_AT_COPIES:
  case HFTA_FIELD_SUMS:
    print_place(&command->to);
    break;
  case HFTA_FIELD_FROM:
  case HFTA_FIELD_RECEIVED:
    print_place(&command->from);
    break;
  case HFTA_FIELD_SEGMENT:
    printf("%u", command->to.index);
    break;
  case HFTA_FIELD_ADDRESS:
    printf("%llu", (unsigned long long)command->from.offset);
    break;
  case HFTA_FIELD_BYTES:
  case HFTA_FIELD_EVENTS:
  case HFTA_FIELD_PLACES:
  case HFTA_FIELD_COPIES:
    printf("%llu", (unsigned long long)command->bytes);
    break;
  case HFTA_FIELD_DUE:
    printf("%s", hfta_due_kind_word(command->bytes));
    break;
  case HFTA_FIELD_REPLICAS:
    print_replicas(&command->replicas);
    break;
  case HFTA_FIELD_RECEIVERS:
    print_replicas(&command->receivers);
    break;
  }
}

/// Prints a command up to the end of its line. A command with a body ends with
/// an opened brace.
static void print_command(const hfta_program *program,
                          const hfta_command *command) {
  const hfta_command_record *record = hfta_find_command_record(command->kind);
  printf("hfta.%s", record->word);
  for (uint32_t i = 0; i < record->field_count; ++i) {
    const hfta_command_field *field = &record->fields[i];
    if (!field->text || is_default(command, field->kind))
      continue;
    printf(" %s%s", field->text, *field->text ? " " : "");
    print_field(program, command, field->kind);
  }
  if (record->flags & HFTA_COMMAND_HAS_BODY)
    printf(" {\n");
  else
    print_attributes(command);
}

static void print_commands(const hfta_program *program,
                           const hfta_command *commands, uint32_t count,
                           int depth) {
  for (uint32_t i = 0; i < count; i += 1 + commands[i].length) {
    printf("%*s", 2 * depth, "");
    print_command(program, &commands[i]);
    if (!hfta_command_is(&commands[i], HFTA_COMMAND_HAS_BODY))
      continue;
    print_commands(program, &commands[i + 1], commands[i].length, depth + 1);
    printf("%*s}\n", 2 * depth, "");
  }
}

void hfta_print_schedules(const hfta_program *program) {
  for (uint32_t i = 0; i < program->schedule_count; ++i) {
    const hfta_schedule *schedule = &program->schedules[i];
    if (schedule->stage < 0)
      printf("hfta.schedule @%s keeps [", schedule->name);
    else
      printf("hfta.schedule @\"%s.%d\" stage %d keeps [", schedule->name,
             schedule->stage, schedule->stage);
    for (uint32_t j = 0; j < schedule->keep_count; ++j)
      printf("%s%u", j ? ", " : "", schedule->keeps[j]);
    printf("] {\n");
    print_commands(program, schedule->commands, schedule->command_count, 1);
    printf("}\n");
  }
}
