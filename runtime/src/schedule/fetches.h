//===- fetches.h - Where schedules put what isn't resident ------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_FETCHES_H
#define HFTA_SRC_SCHEDULE_FETCHES_H

#include "hfta/program.h"

/// Bytes of one instance of a segment in the arena, where a schedule fetches it
/// in turns of so many copies (0: outside of turns, or in those of a number
/// that the host chooses): all of it, but of slabs that the schedule doesn't
/// keep those of a turn. 0: nothing tells how many these are.
uint64_t hfta_fetched_bytes(const hfta_program *program,
                            const hfta_schedule *schedule, uint32_t segment,
                            uint64_t turn_copies);

/// Where in the arena the place of a FETCH of the schedule ends, that of all of
/// its instances. 0: nothing tells, or it is past all numbers.
uint64_t hfta_fetch_end(const hfta_program *program,
                        const hfta_schedule *schedule,
                        const hfta_command *command);

/// The FETCH of the schedule that gives a segment its place for a command
/// behind it; NULL: there is none.
const hfta_command *hfta_find_fetch(const hfta_schedule *schedule,
                                    const hfta_command *command,
                                    uint32_t segment);

/// Where in the arena an instance of a FETCH's segment begins.
uint64_t hfta_fetch_begin(const hfta_program *program,
                          const hfta_schedule *schedule,
                          const hfta_command *command, int64_t instance);

/// Bytes that an ALL_REDUCE of the schedule is of: those of its own that the
/// segment's place has, where that is in the arena; none if they lie behind it.
uint64_t hfta_reduced_bytes(const hfta_program *program,
                            const hfta_schedule *schedule,
                            const hfta_command *command);

#endif // HFTA_SRC_SCHEDULE_FETCHES_H
