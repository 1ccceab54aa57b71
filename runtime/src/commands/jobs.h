//===- jobs.h - Several jobs in one binary ----------------------*- C -*-===//
//
// If a binary has one job, these functions do nothing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMANDS_JOBS_H
#define HFTA_SRC_COMMANDS_JOBS_H

#include "commands/command.h"
#include "system/path.h"

/// The names of all jobs, "'a', 'b'"; only the first ones if there are many.
typedef struct hfta_job_names {
  char text[320];
} hfta_job_names;
hfta_job_names hfta_name_jobs(const hfta_invocation *invocation);

/// Whether the command is for all of several jobs, because none was named.
bool hfta_is_of_all_jobs(const hfta_invocation *invocation);

/// Removes `--job NAME` from the arguments, wherever it stands, and makes that
/// job the current one. Returns -1, or the exit code after a message.
int hfta_take_job(hfta_invocation *invocation);

/// Reports that `what` is for one job, but none was named. Returns the exit
/// code.
int hfta_report_nameless(const hfta_invocation *invocation, const char *what);

/// Makes another job the current one; messages then name it.
void hfta_go_on_to_job(hfta_invocation *invocation, int64_t index);

/// Finds the folder in which the program saves: a folder with the program's
/// name in `folder` if the binary has several jobs (`*out` is then in `path`),
/// else `folder`; NULL stays NULL.
hfta_status hfta_find_job_folder(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const char *folder, hfta_path *path,
                                 const char **out, hfta_error *error);

/// Finds that folder for the current job and the value of `--checkpoint`.
/// Returns -1, or the exit code after a message.
int hfta_choose_job_folder(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

/// Finds the folder from which to read a checkpoint, as hfta_choose_job_folder
/// does, except that a folder with a checkpoint's name is used itself.
int hfta_choose_checkpoint(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

#endif // HFTA_SRC_COMMANDS_JOBS_H
