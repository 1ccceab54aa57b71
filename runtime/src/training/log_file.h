//===- log_file.h - A log that several trainings write to -------*- C -*-===//
//
// Threads: the holder of the mutex may be any thread. A line begins and ends
// under one lock, so that lines are whole.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_FILE_H
#define HFTA_SRC_TRAINING_LOG_FILE_H

#include "hfta/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct hfta_log_file {
  char *path;
  FILE *file;   ///< the file at the path, or its replacement
  bool regular; ///< a file that can be truncated, not a pipe or device
  bool resumed; ///< contents stay, except for steps that are done again
  bool is_lost; ///< the replacement can't be opened
  bool begun;   ///< a training of this run has written to it
  pthread_mutex_t mutex;
} hfta_log_file;

/// Opens the file. A regular file is locked until it is closed; a pipe keeps
/// its writer as long. Changes no contents. If another training uses it, that
/// is HFTA_INVALID_INPUT.
hfta_status hfta_log_file_open(const char *path, bool resumed,
                               hfta_log_file **out, hfta_error *error);

/// Closes the file; NULL is allowed.
void hfta_log_file_close(hfta_log_file *file);

/// Opens another stream on the same bytes, from their beginning; the caller
/// closes it. NULL after a failure, with errno.
FILE *hfta_log_file_read(const hfta_log_file *file);

/// Continues, locked, with the file that has replaced the one at the path.
hfta_status hfta_log_file_reopen(hfta_log_file *file, hfta_error *error);

hfta_status hfta_log_file_cannot_write(const hfta_log_file *file, int code,
                                       hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_FILE_H
