//===- seats.h - Seats for several jobs ---------------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_SEATS_H
#define HFTA_SRC_COMMANDS_SEATS_H

#include "commands/command.h"
#include "fleet/fleet.h"

typedef struct hfta_seat_arguments {
  int64_t seats;
  int64_t threads;       ///< number for all seats together; 0: not given
  const char *scheduler; ///< NULL: not given
  const char *device;    ///< NULL: not given
} hfta_seat_arguments;

/// Whether the binary can use seats: it has several jobs, or one whose copies
/// take turns in groups.
bool hfta_takes_seats(const hfta_invocation *invocation);

/// The parts of all jobs, for seats.
typedef struct hfta_seats {
  hfta_fleet_options options;
  hfta_fleet_training *trainings; ///< trainings of all jobs, in their order
  int64_t *parts;                 ///< number of parts of each job
} hfta_seats;

/// Chooses the options of a fleet for all jobs: at most one seat per part,
/// their threads, and memory. Reports what is impossible. Returns -1, or the
/// exit code. `*out` is released by hfta_seats_free in any case.
int hfta_choose_seats(const hfta_invocation *invocation,
                      const hfta_seat_arguments *arguments, hfta_seats *out);
void hfta_seats_free(hfta_seats *seats);

#endif // HFTA_SRC_COMMANDS_SEATS_H
