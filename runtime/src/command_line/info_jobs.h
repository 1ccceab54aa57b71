//===- info_jobs.h - info, of several jobs ----------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_INFO_JOBS_H
#define HFTA_SRC_COMMAND_LINE_INFO_JOBS_H

#include "command_line/seats.h"

/// Implements `info` for several jobs. Prints one line per job, or JSON. If
/// `arguments` ask for seats, also prints the memory that `train --seats`
/// needs, and a forecast of its time. If a job counts epochs, the number of its
/// steps is found from its data files, whose relative paths are below
/// `data_root` (NULL: the working folder); if they can't be opened, it isn't
/// known. Returns the exit code.
int hfta_list_jobs(const hfta_invocation *invocation,
                   const hfta_seat_arguments *arguments, const char *data_root,
                   bool json);

#endif // HFTA_SRC_COMMAND_LINE_INFO_JOBS_H
