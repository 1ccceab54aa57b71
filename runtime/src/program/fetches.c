//===- fetches.c - Places in the arena of a schedule's segments -----------===//

#include "program/fetches.h"

#include <stdbool.h>

static bool keeps(const hfta_schedule *schedule, uint32_t segment) {
  for (uint32_t i = 0; i < schedule->keep_count; ++i)
    if (schedule->keeps[i] == segment)
      return true;
  return false;
}

uint64_t hfta_fetched_bytes(const hfta_program *program,
                            const hfta_schedule *schedule, uint32_t segment,
                            uint64_t turn_copies) {
  const hfta_segment *own = &program->segments[segment];
  if (own->copy_bytes == 0 || keeps(schedule, segment))
    return own->bytes;
  uint64_t copies = (uint64_t)program->copies;
  return own->copy_bytes * (turn_copies < copies ? turn_copies : copies);
}

/// Returns the number of copies in each turn of the REPEAT that contains a
/// command; 0 if it isn't in turns, or the host chooses the number.
static uint64_t find_turn_copies(const hfta_schedule *schedule,
                                 const hfta_command *command) {
  for (const hfta_command *outer = schedule->commands; outer < command; ++outer)
    if (outer->kind == HFTA_COMMAND_REPEAT &&
        outer->subject == HFTA_REPEAT_TURNS && outer + outer->length >= command)
      return outer->bytes;
  return 0;
}

uint64_t hfta_fetch_end(const hfta_program *program,
                        const hfta_schedule *schedule,
                        const hfta_command *command) {
  uint64_t bytes = hfta_fetched_bytes(program, schedule, command->to.index,
                                      find_turn_copies(schedule, command));
  uint64_t end;
  if (bytes == 0 || __builtin_mul_overflow(bytes, command->bytes, &end) ||
      __builtin_add_overflow(end, command->from.offset, &end))
    return 0;
  return end;
}

const hfta_command *hfta_find_fetch(const hfta_schedule *schedule,
                                    const hfta_command *command,
                                    uint32_t segment) {
  while (command-- > schedule->commands)
    if (command->kind == HFTA_COMMAND_FETCH && command->to.index == segment)
      return command;
  return NULL;
}

uint64_t hfta_fetch_begin(const hfta_program *program,
                          const hfta_schedule *schedule,
                          const hfta_command *command, int64_t instance) {
  uint64_t bytes = hfta_fetched_bytes(program, schedule, command->to.index,
                                      find_turn_copies(schedule, command));
  return command->from.offset + (uint64_t)instance % command->bytes * bytes;
}

uint64_t hfta_reduced_bytes(const hfta_program *program,
                            const hfta_schedule *schedule,
                            const hfta_command *command) {
  uint64_t begin = command->to.offset;
  if (program->segments[command->to.index].residency == HFTA_RESIDENT)
    return command->bytes;
  uint64_t all = hfta_fetched_bytes(program, schedule, command->to.index,
                                    find_turn_copies(schedule, command));
  uint64_t left = all > begin ? all - begin : 0;
  return left < command->bytes ? left : command->bytes;
}
