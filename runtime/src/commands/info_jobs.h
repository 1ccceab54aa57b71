//===- info_jobs.h - info, of several jobs ----------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_INFO_JOBS_H
#define HFTA_SRC_COMMANDS_INFO_JOBS_H

#include "commands/seats.h"

/// A line a job, and, where seats are given, what training at these needs and
/// how long it may take. Jobs' data, below `data_root` (NULL: here), tell how
/// long epochs are; what isn't there is passed over. Returns the exit code.
int hfta_list_jobs(const hfta_invocation *invocation,
                   const hfta_seat_arguments *arguments, const char *data_root,
                   bool json);

#endif // HFTA_SRC_COMMANDS_INFO_JOBS_H
