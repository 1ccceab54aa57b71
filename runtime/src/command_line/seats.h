//===- seats.h - Options for training at seats --------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_SEATS_H
#define HFTA_SRC_COMMAND_LINE_SEATS_H

#include "command_line/command.h"
#include "fleet/fleet.h"

/// The values of the options about seats.
typedef struct hfta_seat_arguments {
  int64_t seats;         ///< the number of seats; 0: not given
  int64_t threads;       ///< the threads of all seats together; 0: not given
  const char *scheduler; ///< NULL: not given
  const char *device;    ///< NULL: not given
} hfta_seat_arguments;

/// Returns whether the program can train at seats: it has several jobs, or one
/// job whose copies take turns in groups, among which seats can be divided.
bool hfta_takes_seats(const hfta_invocation *invocation);

/// The models of a fleet: the jobs, some of them divided into parts.
typedef struct hfta_seats {
  /// The fleet's options, which refer to `trainings`.
  hfta_fleet_options options;
  hfta_fleet_training *trainings; ///< one per part, in the order of the jobs
  int64_t *parts;                 ///< the number of parts of each job
} hfta_seats;

/// Fills the options of a fleet that trains all jobs: at most one seat per
/// part, threads, memory limit, scheduler and device. Returns -1, or the exit
/// code after an error message. `*out` must be released by hfta_seats_free in
/// any case.
int hfta_choose_seats(const hfta_invocation *invocation,
                      const hfta_seat_arguments *arguments, hfta_seats *out);
void hfta_seats_free(hfta_seats *seats);

#endif // HFTA_SRC_COMMAND_LINE_SEATS_H
