//===- log_file.h - A log that several trainings write to -------*- C -*-===//
//
// Threads: any thread may hold the mutex. It must be held from the beginning to
// the end of a line, so that lines of several trainings don't mix.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_FILE_H
#define HFTA_SRC_TRAINING_LOG_FILE_H

#include "hfta/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct hfta_log_file {
  char *path;
  FILE *file;   ///< the file at `path`, or the one that has replaced it
  bool regular; ///< whether the file can be truncated: it is no pipe, device or
                ///< standard stream
  bool resumed; ///< whether the file keeps its contents, except for steps that
                ///< are done again
  bool is_lost; ///< whether the file that has replaced the log couldn't be
                ///< opened
  bool begun;   ///< whether a training of this run has written to the file
  pthread_mutex_t mutex; ///< protects the other members and the file's contents
} hfta_log_file;

/// Opens a log's file without changing its contents. A regular file is locked
/// until it is closed. Fails with HFTA_INVALID_INPUT if another training uses
/// the file, and with HFTA_CANNOT_WRITE if it can't be opened.
hfta_status hfta_log_file_open(const char *path, bool resumed,
                               hfta_log_file **out, hfta_error *error);

/// Closes the file; NULL is allowed.
void hfta_log_file_close(hfta_log_file *file);

/// Opens another stream that reads the file from its beginning; the caller
/// closes it. Returns NULL and sets errno after a failure.
FILE *hfta_log_file_read(const hfta_log_file *file);

/// Closes the current file, and opens and locks the one that has replaced it at
/// the path. If that can't be opened, keeps the current file, sets `is_lost`
/// and fails with HFTA_CANNOT_WRITE.
hfta_status hfta_log_file_reopen(hfta_log_file *file, hfta_error *error);

/// Fills `error` with the text of the errno value `code`, and returns
/// HFTA_CANNOT_WRITE.
hfta_status hfta_log_file_cannot_write(const hfta_log_file *file, int code,
                                       hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_FILE_H
