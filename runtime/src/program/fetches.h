//===- fetches.h - Places in the arena of a schedule's segments ---*- C -*-===//

#ifndef HFTA_SRC_PROGRAM_FETCHES_H
#define HFTA_SRC_PROGRAM_FETCHES_H

#include "hfta/program.h"

/// Returns the bytes of one instance of a segment in the arena, as a schedule
/// fetches it in turns of `turn_copies` copies. Usually that is the whole
/// instance. But of a segment of slabs that isn't among the schedule's `keeps`,
/// only a turn's slabs are there. `turn_copies` is 0 outside of turns, or where
/// the host chooses the size of turns; the slabs are then not known, and the
/// result is 0.
uint64_t hfta_fetched_bytes(const hfta_program *program,
                            const hfta_schedule *schedule, uint32_t segment,
                            uint64_t turn_copies);

/// Returns the offset in the arena at which the places that a FETCH gives to
/// all instances end; 0 if it isn't known or overflows.
uint64_t hfta_fetch_end(const hfta_program *program,
                        const hfta_schedule *schedule,
                        const hfta_command *command);

/// Returns the last FETCH of a segment before a command, from which the segment
/// has its place; NULL if there is none.
const hfta_command *hfta_find_fetch(const hfta_schedule *schedule,
                                    const hfta_command *command,
                                    uint32_t segment);

/// Returns the offset in the arena of the place that a FETCH gives to an
/// instance of its segment.
uint64_t hfta_fetch_begin(const hfta_program *program,
                          const hfta_schedule *schedule,
                          const hfta_command *command, int64_t instance);

/// Returns how many bytes an ALL_REDUCE of the schedule adds up: the size of
/// its range or, if the segment is in the arena, of the part of the range
/// within the segment's place; 0 if the range begins after the place.
uint64_t hfta_reduced_bytes(const hfta_program *program,
                            const hfta_schedule *schedule,
                            const hfta_command *command);

#endif // HFTA_SRC_PROGRAM_FETCHES_H
