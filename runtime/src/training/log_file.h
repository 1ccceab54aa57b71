//===- log_file.h - A log that several trainings write to -------*- C -*-===//
//
// Threads: what has the mutex may be done by any thread. A line is begun and
// ended with it, so that lines are whole.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_FILE_H
#define HFTA_SRC_TRAINING_LOG_FILE_H

#include "hfta/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct hfta_log_file {
  char *path;
  FILE *file;   ///< that of the path, or of the one that has replaced it
  bool regular; ///< a file that can be cut, not a pipe or device
  bool resumed; ///< what it holds stays, but for what is done once more
  bool is_lost; ///< the file that has replaced it can't be opened
  bool begun;   ///< a training of this run has written to it
  pthread_mutex_t mutex;
} hfta_log_file;

/// Opens the file, and locks it if it is a regular one, until it is closed; a
/// pipe's reader has one as long. Changes nothing in it. In use by another
/// training is HFTA_INVALID_INPUT.
hfta_status hfta_log_file_open(const char *path, bool resumed,
                               hfta_log_file **out, hfta_error *error);

/// NULL is allowed.
void hfta_log_file_close(hfta_log_file *file);

/// Another stream on the same bytes, from their beginning; the caller closes
/// it. NULL after a failure; errno says which.
FILE *hfta_log_file_read(const hfta_log_file *file);

/// Goes on, locked, with the file that has taken the path's place.
hfta_status hfta_log_file_reopen(hfta_log_file *file, hfta_error *error);

hfta_status hfta_log_file_cannot_write(const hfta_log_file *file, int code,
                                       hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_FILE_H
