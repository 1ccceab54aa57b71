//===- seats.h - What seats several jobs get --------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_SEATS_H
#define HFTA_SRC_COMMANDS_SEATS_H

#include "commands/command.h"
#include "fleet/fleet.h"

typedef struct hfta_seat_arguments {
  int64_t seats;
  int64_t threads;       ///< of all together; 0: not given
  const char *scheduler; ///< NULL: not given
  const char *device;    ///< NULL: not given
} hfta_seat_arguments;

/// Of a fleet of all jobs: no more seats than jobs, their threads, and memory.
/// What can't be is reported. Returns -1, or the exit code.
int hfta_choose_seats(const hfta_invocation *invocation,
                      const hfta_seat_arguments *arguments,
                      hfta_fleet_options *out);

#endif // HFTA_SRC_COMMANDS_SEATS_H
