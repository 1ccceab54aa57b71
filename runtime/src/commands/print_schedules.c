//===- print_schedules.c - A program's schedules as text ------------------===//

#include "commands/print_schedules.h"

#include <stdio.h>

static void print_place(const hfta_place *place) {
  static const char *const spaces[] = {"segment", "host", "field", "port"};
  printf("<%s, %u, %llu", spaces[place->space], place->index,
         (unsigned long long)place->offset);
  if (place->copy_stride)
    printf(", %llu", (unsigned long long)place->copy_stride);
  printf(">");
}

/// What differs from the first device's first queue and this micro-batch.
static void print_attributes(const hfta_command *command) {
  const struct {
    const char *name;
    long long value;
  } all[] = {{"ahead", command->ahead},
             {"device", command->device},
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

static void print_command(const hfta_program *program,
                          const hfta_command *command) {
  unsigned long long bytes = command->bytes;
  switch (command->kind) {
  case HFTA_COMMAND_RUN:
    printf("hfta.run @\"task/%s\"", program->tasks[command->subject].name);
    break;
  case HFTA_COMMAND_TRANSFER:
    printf("hfta.transfer %llu from ", bytes);
    print_place(&command->from);
    printf(" to ");
    print_place(&command->to);
    break;
  case HFTA_COMMAND_FILL:
    printf("hfta.fill %llu at ", bytes);
    print_place(&command->to);
    break;
  case HFTA_COMMAND_RECORD:
    printf("hfta.record %u", command->subject);
    break;
  case HFTA_COMMAND_AWAIT:
    printf("hfta.await %u", command->subject);
    break;
  case HFTA_COMMAND_REPEAT:
    printf("hfta.repeat %s {\n",
           command->subject == HFTA_REPEAT_TURNS ? "turns" : "micro_batches");
    return;
  case HFTA_COMMAND_EVERY:
    printf("hfta.every \"%s\" {\n",
           program->hyper_parameters[command->subject].name);
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
    if (commands[i].kind != HFTA_COMMAND_REPEAT &&
        commands[i].kind != HFTA_COMMAND_EVERY)
      continue;
    print_commands(program, &commands[i + 1], commands[i].length, depth + 1);
    printf("%*s}\n", 2 * depth, "");
  }
}

void hfta_print_schedules(const hfta_program *program) {
  for (uint32_t i = 0; i < program->schedule_count; ++i) {
    const hfta_schedule *schedule = &program->schedules[i];
    printf("hfta.schedule @%s keeps [", schedule->name);
    for (uint32_t j = 0; j < schedule->keep_count; ++j)
      printf("%s%u", j ? ", " : "", schedule->keeps[j]);
    printf("] {\n");
    print_commands(program, schedule->commands, schedule->command_count, 1);
    printf("}\n");
  }
}
