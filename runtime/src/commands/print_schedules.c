//===- print_schedules.c - A program's schedules as text ------------------===//

#include "commands/print_schedules.h"

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

const char *hfta_command_word(uint32_t kind) {
  switch ((hfta_command_kind)kind) {
  case HFTA_COMMAND_RUN:
    return "run";
  case HFTA_COMMAND_TRANSFER:
    return "transfer";
  case HFTA_COMMAND_FILL:
    return "fill";
  case HFTA_COMMAND_RECORD:
    return "record";
  case HFTA_COMMAND_AWAIT:
    return "await";
  case HFTA_COMMAND_REPEAT:
    return "repeat";
  case HFTA_COMMAND_EVERY:
    return "every";
  case HFTA_COMMAND_ALL_REDUCE:
    return "all_reduce";
  case HFTA_COMMAND_ALL_GATHER:
    return "all_gather";
  case HFTA_COMMAND_SEND:
    return "send";
  case HFTA_COMMAND_RECEIVE:
    return "receive";
  case HFTA_COMMAND_ACTIONS:
    return "actions";
  case HFTA_COMMAND_CASE:
    return "case";
  case HFTA_COMMAND_ONLY:
    return "only";
  case HFTA_COMMAND_BROADCAST:
    return "broadcast_bytes";
  case HFTA_COMMAND_TAKE_GROUP:
    return "take_group";
  case HFTA_COMMAND_FETCH:
    return "fetch";
  case HFTA_COMMAND_EVICT:
    return "evict";
  case HFTA_COMMAND_DROP:
    return "drop";
  }
  return "?";
}

bool hfta_command_has_body(const hfta_command *command) {
  switch (command->kind) {
  case HFTA_COMMAND_REPEAT:
  case HFTA_COMMAND_EVERY:
  case HFTA_COMMAND_ACTIONS:
  case HFTA_COMMAND_CASE:
  case HFTA_COMMAND_ONLY:
    return true;
  default:
    return false;
  }
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

/// Prints attributes whose values aren't 0, which is the default: the current
/// micro-batch, the first device and its first queue.
static void print_attributes(const hfta_command *command) {
  bool has_instances = command->kind == HFTA_COMMAND_RECORD ||
                       command->kind == HFTA_COMMAND_AWAIT ||
                       command->kind == HFTA_COMMAND_FETCH;
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
  printf("order [");
  for (uint64_t i = 0; i < order->count; ++i)
    printf("%s%u, %u", i ? ", " : "", order->actions[i].which,
           order->actions[i].place);
  printf("] {\n");
}

/// Prints a command up to the end of its line. A command with a body ends with
/// an opened brace.
static void print_command(const hfta_program *program,
                          const hfta_command *command) {
  unsigned long long bytes = command->bytes;
  printf("hfta.%s ", hfta_command_word(command->kind));
  switch (command->kind) {
  case HFTA_COMMAND_RUN:
    printf("@\"task/%s\"", program->tasks[command->subject].name);
    break;
  case HFTA_COMMAND_TRANSFER:
    printf("%llu from ", bytes);
    print_place(&command->from);
    printf(" to ");
    print_place(&command->to);
    break;
  case HFTA_COMMAND_FILL:
  case HFTA_COMMAND_ALL_GATHER:
    printf("%llu at ", bytes);
    print_place(&command->to);
    break;
  case HFTA_COMMAND_BROADCAST:
    printf("%llu at ", bytes);
    print_place(&command->to);
    printf(" from ");
    print_replicas(&command->replicas);
    printf(" to ");
    print_replicas(&command->receivers);
    break;
  case HFTA_COMMAND_TAKE_GROUP:
    printf("%u %llu at ", command->subject, bytes);
    print_place(&command->to);
    break;
  case HFTA_COMMAND_SEND:
  case HFTA_COMMAND_RECEIVE:
    printf("%llu at ", bytes);
    print_place(&command->to);
    printf(" %s stage %u", command->kind == HFTA_COMMAND_SEND ? "to" : "from",
           command->subject);
    break;
  case HFTA_COMMAND_ALL_REDUCE:
    printf("@\"task/%s\" %llu at ", program->tasks[command->subject].name,
           bytes);
    print_place(&command->to);
    printf(" through ");
    print_place(&command->from);
    break;
  case HFTA_COMMAND_FETCH:
    printf("%u at %llu contents %s", command->to.index,
           (unsigned long long)command->from.offset,
           hfta_contents_word(command->subject));
    break;
  case HFTA_COMMAND_EVICT:
  case HFTA_COMMAND_DROP:
    printf("%u", command->to.index);
    break;
  case HFTA_COMMAND_RECORD:
  case HFTA_COMMAND_AWAIT:
    printf("%u", command->subject);
    break;
  case HFTA_COMMAND_REPEAT:
    printf("%s ", hfta_repeat_kind_word(command->subject));
    if (bytes > 0)
      printf("of %llu ", bytes);
    printf("{\n");
    return;
  case HFTA_COMMAND_EVERY:
    printf("\"%s\"", program->hyper_parameters[command->subject].name);
    if (command->bytes != HFTA_DUE)
      printf(" for %s", hfta_due_kind_word(command->bytes));
    printf(" {\n");
    return;
  case HFTA_COMMAND_ACTIONS:
    print_order(&program->orders[command->subject]);
    return;
  case HFTA_COMMAND_CASE:
    printf("%u {\n", command->subject);
    return;
  case HFTA_COMMAND_ONLY:
    print_replicas(&command->replicas);
    printf(" {\n");
    return;
  }
  print_attributes(command);
}

static void print_commands(const hfta_program *program,
                           const hfta_command *commands, uint32_t count,
                           int depth) {
  for (uint32_t i = 0; i < count; i += 1 + commands[i].length) {
    printf("%*s", 2 * depth, "");
    print_command(program, &commands[i]);
    if (!hfta_command_has_body(&commands[i]))
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
