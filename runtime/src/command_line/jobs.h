//===- jobs.h - Several jobs in one binary ----------------------*- C -*-===//
//
// With a single job, these functions change nothing: there is no option --job,
// and folders are used as given.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMAND_LINE_JOBS_H
#define HFTA_SRC_COMMAND_LINE_JOBS_H

#include "command_line/command.h"
#include "system/path.h"

/// The names of all jobs for messages, "'a', 'b'". If they don't all fit, the
/// text ends with "...".
typedef struct hfta_job_names {
  char text[320];
} hfta_job_names;
hfta_job_names hfta_name_jobs(const hfta_invocation *invocation);

/// Lists the programs of the jobs among all programs of a binary: of several
/// arrays of a search, the first one. Returns a list that the caller frees, or
/// NULL if there isn't enough memory.
const hfta_program **hfta_job_programs(const hfta_program *const *programs,
                                       int64_t count, int64_t *out_count);

/// Makes a program the current one.
void hfta_set_program(hfta_invocation *invocation, const hfta_program *program);

/// Returns whether the command is for all jobs: there are several, and none was
/// named.
bool hfta_is_of_all_jobs(const hfta_invocation *invocation);

/// Returns whether the current job has a search or, if the command is for all
/// jobs, any of them.
bool hfta_has_search(const hfta_invocation *invocation);

/// Removes the option `--job NAME` from the arguments, wherever it is, and
/// makes this job the current one. Returns -1, or the exit code after an error
/// message.
int hfta_take_job(hfta_invocation *invocation);

/// Reports a usage error: `what` is possible for one job only, but none was
/// named. Returns the exit code.
int hfta_report_nameless(const hfta_invocation *invocation, const char *what);

/// Makes another job the current one. From then on messages name the job.
void hfta_go_on_to_job(hfta_invocation *invocation, int64_t index);

/// Sets `*out` to the folder for the checkpoints, or for other files, of one
/// program. If the binary
/// has several jobs, this is the subfolder of `folder` with the program's name,
/// whose text is in `path`; else it is `folder`. NULL if `folder` is NULL.
hfta_status hfta_find_job_folder(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const char *folder, hfta_path *path,
                                 const char **out, hfta_error *error);

/// Replaces `*folder`, the value of `--checkpoint` or of another option, by the
/// current job's folder, as hfta_find_job_folder does. Returns -1, or the exit
/// code after an error message.
int hfta_choose_job_folder(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

/// Replaces `*folder` by the folder from which the current job reads a
/// checkpoint: `*folder` itself if it has a checkpoint's name, else as
/// hfta_choose_job_folder. Returns -1, or the exit code after an error message.
int hfta_choose_checkpoint(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder);

#endif // HFTA_SRC_COMMAND_LINE_JOBS_H
