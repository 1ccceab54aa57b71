//===- fetches.h - Places in the arena of a schedule's segments ---*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_FETCHES_H
#define HFTA_SRC_SCHEDULE_FETCHES_H

#include "hfta/program.h"

/// Returns the bytes of one instance of a segment in the arena, where a
/// schedule fetches it in turns of `turn_copies` copies (0: outside of turns,
/// or in turns of a size that the host chooses). That is the whole instance,
/// except that a segment of slabs which the schedule doesn't keep has only the
/// slabs of a turn. 0: their number is unknown.
uint64_t hfta_fetched_bytes(const hfta_program *program,
                            const hfta_schedule *schedule, uint32_t segment,
                            uint64_t turn_copies);

/// Returns the end in the arena of the places that a FETCH of the schedule
/// gives, for all instances. 0: unknown, or an overflow.
uint64_t hfta_fetch_end(const hfta_program *program,
                        const hfta_schedule *schedule,
                        const hfta_command *command);

/// Returns the schedule's last FETCH of a segment before a command, which gives
/// the segment its place; NULL: there is none.
const hfta_command *hfta_find_fetch(const hfta_schedule *schedule,
                                    const hfta_command *command,
                                    uint32_t segment);

/// Returns the offset in the arena at which an instance of a FETCH's segment
/// begins.
uint64_t hfta_fetch_begin(const hfta_program *program,
                          const hfta_schedule *schedule,
                          const hfta_command *command, int64_t instance);

/// Returns the bytes that an ALL_REDUCE of the schedule sums: those of its
/// range that lie within the segment's place, if that is in the arena; none if
/// all lie after the place.
uint64_t hfta_reduced_bytes(const hfta_program *program,
                            const hfta_schedule *schedule,
                            const hfta_command *command);

#endif // HFTA_SRC_SCHEDULE_FETCHES_H
