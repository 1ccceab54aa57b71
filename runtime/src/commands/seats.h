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

/// Whether the binary has anything that seats are for: several jobs, or one
/// whose copies take turns in groups.
bool hfta_takes_seats(const hfta_invocation *invocation);

/// All jobs' parts at seats.
typedef struct hfta_seats {
  hfta_fleet_options options;
  hfta_fleet_training *trainings; ///< of all jobs, in their order
  int64_t *parts;                 ///< of each job
} hfta_seats;

/// Of a fleet of all jobs: no more seats than parts, their threads, and memory.
/// What can't be is reported. Returns -1, or the exit code. `*out` is released
/// by hfta_seats_free in any case.
int hfta_choose_seats(const hfta_invocation *invocation,
                      const hfta_seat_arguments *arguments, hfta_seats *out);
void hfta_seats_free(hfta_seats *seats);

#endif // HFTA_SRC_COMMANDS_SEATS_H
