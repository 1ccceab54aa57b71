//===- log_scan.h - Scan of an earlier run's log ------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_LOG_SCAN_H
#define HFTA_SRC_TRAINING_LOG_SCAN_H

#include "training/log.h"

#include <stdio.h>

/// Which part of a log stays when a training continues from `steps_done`.
typedef struct hfta_log_scan {
  int64_t kept_bytes;  ///< size of the lines before the first one that is
                       ///< removed
  int64_t moved_bytes; ///< size of other jobs' lines after the first line that
                       ///< is removed
  int64_t end;         ///< offset of the end of the last complete line
  int64_t last_epoch_end; ///< the last step of the epoch of the last epoch
                          ///< event that stays; 0 if none
  bool has_lines;         ///< whether some lines that stay are this training's
} hfta_log_scan;

/// Scans the log from the current position of `file`. The training's own lines
/// stay up to the first one about a step that will be done again. Lines of
/// other jobs always stay, if the job is named; else everything after that line
/// is removed. Fails with HFTA_INVALID_INPUT if the log belongs to another
/// training. `path` is for messages.
hfta_status hfta_log_scan_file(const hfta_program *program, const char *path,
                               const hfta_log_span *span, FILE *file,
                               hfta_log_scan *out, hfta_error *error);

/// Writes the lines that stay to a new file, which then replaces the log at
/// `path` atomically. After a failure the log is unchanged. `descriptor` is the
/// file that was scanned.
hfta_status hfta_log_rewrite(int descriptor, const char *path,
                             const hfta_log_span *span,
                             const hfta_log_scan *scan, hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_SCAN_H
