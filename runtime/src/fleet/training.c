//===- training.c - The copies that a model of a fleet trains -------------===//

#include "fleet/training.h"

#include <stdio.h>

/// Returns the number of copies in a turn that a schedule specifies; 0 if there
/// is no such schedule or it has no turns.
static int64_t find_turn(const hfta_program *program, const char *name) {
  const hfta_schedule *schedule = hfta_program_find_schedule(program, name);
  for (uint32_t i = 0; schedule && i < schedule->command_count; ++i) {
    const hfta_command *command = &schedule->commands[i];
    if (command->kind == HFTA_COMMAND_REPEAT &&
        command->subject == HFTA_REPEAT_TURNS)
      return (int64_t)command->bytes;
  }
  return 0;
}

/// Returns the number of copies in a turn: in one of several steps if the
/// program has such turns, else in one of a single step.
static int64_t copies_of_turn(const hfta_program *program) {
  int64_t copies = find_turn(program, "begin_turn");
  return copies > 0 ? copies : find_turn(program, "step");
}

int64_t hfta_program_group_count(const hfta_program *program) {
  hfta_workload all = hfta_workload_of_all(program);
  int64_t copies = copies_of_turn(program);
  if (copies == 0 || !hfta_program_spills(program) ||
      program->stage_count > 1 || program->workers > 1 ||
      !hfta_workload_runs_by_copies(program, &all))
    return 1;
  return (program->copies + copies - 1) / copies;
}

int64_t hfta_count_parts(int64_t groups, int64_t seats) {
  return groups < seats ? groups : seats;
}

int64_t hfta_fleet_count_parts(const hfta_program *program, int64_t seats) {
  return hfta_count_parts(hfta_program_group_count(program), seats);
}

/// Returns the number of the first copy of part `index` of `count`.
static int64_t find_begin(const hfta_program *program, int64_t count,
                          int64_t index) {
  int64_t groups = hfta_program_group_count(program);
  int64_t begin = groups * index / count * copies_of_turn(program);
  return begin < program->copies ? begin : program->copies;
}

hfta_fleet_training hfta_fleet_take_part(const hfta_program *program,
                                         int64_t count, int64_t index) {
  hfta_fleet_training part = {.program = program, .copies = program->copies};
  // A long name is cut, to leave room for the copies' numbers.
  snprintf(part.name, sizeof(part.name), "%.100s", program->name);
  if (count == 1)
    return part;
  int64_t end = find_begin(program, count, index + 1);
  part.first_copy = find_begin(program, count, index);
  part.copies = end - part.first_copy;
  snprintf(part.name, sizeof(part.name), "%.100s, copies %lld to %lld",
           program->name, (long long)part.first_copy, (long long)end - 1);
  return part;
}

hfta_workload hfta_fleet_workload(const hfta_fleet_training *training) {
  hfta_workload workload = hfta_workload_of_all(training->program);
  workload.first_copy = training->first_copy;
  workload.copies = training->copies;
  return workload;
}
