//===- info_jobs.h - info, of several jobs ----------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_INFO_JOBS_H
#define HFTA_SRC_COMMANDS_INFO_JOBS_H

#include "commands/seats.h"

/// Prints one line per job and, if seats are given, the memory that training at
/// these needs and how long it may take. The jobs' data, below `data_root`
/// (NULL: here), determine how long epochs are; missing files are skipped.
/// Returns the exit code.
int hfta_list_jobs(const hfta_invocation *invocation,
                   const hfta_seat_arguments *arguments, const char *data_root,
                   bool json);

#endif // HFTA_SRC_COMMANDS_INFO_JOBS_H
