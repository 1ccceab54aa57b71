//===- jobs.h - Several jobs in one binary ----------------------*- C -*-===//
//
// Where a binary has one job, nothing here does anything.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMANDS_JOBS_H
#define HFTA_SRC_COMMANDS_JOBS_H

#include "commands/command.h"
#include "system/path.h"

/// Names of all jobs, "'a', 'b'"; of many the first ones.
typedef struct hfta_job_names {
  char text[320];
} hfta_job_names;
hfta_job_names hfta_name_jobs(const hfta_invocation *invocation);

/// Whether there are several jobs, and none of them was named.
bool hfta_is_of_all_jobs(const hfta_invocation *invocation);

/// Takes `--job NAME` out of the arguments, wherever it stands, and makes that
/// job the one at hand. Returns -1, or the exit code after a message.
int hfta_take_job(hfta_invocation *invocation);

/// That `what` is done with one job, which isn't named. Returns the exit code.
int hfta_report_nameless(const hfta_invocation *invocation, const char *what);

/// Makes another one the job at hand, whose messages then tell which it is.
void hfta_go_on_to_job(hfta_invocation *invocation, int64_t index);

/// Where a program saves that is one of several in the binary: in a folder of
/// its name within `folder`. `*out` is then in `path`, else `folder`; NULL
/// stays NULL.
hfta_status hfta_find_job_folder(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const char *folder, hfta_path *path,
                                 const char **out, hfta_error *error);

/// The same for the job at hand and the value of `--checkpoint`. Returns -1, or
/// the exit code after a message.
int hfta_choose_job_folder(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

/// The same where a checkpoint is to be read: a folder that is one by its name
/// is taken as it is.
int hfta_choose_checkpoint(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

#endif // HFTA_SRC_COMMANDS_JOBS_H
