//===- log_scan.h - Scan of an earlier run's log ------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_LOG_SCAN_H
#define HFTA_SRC_TRAINING_LOG_SCAN_H

#include "training/log.h"

#include <stdio.h>

/// The part of a log that stays when a training continues from `steps_done`.
typedef struct hfta_log_scan {
  int64_t kept_bytes;     ///< whole lines before the first one that is removed
  int64_t moved_bytes;    ///< other jobs' lines after it
  int64_t end;            ///< end of the last whole line
  int64_t last_epoch_end; ///< the last step of the last epoch event's epoch
  bool has_lines;         ///< some lines that stay are ours
} hfta_log_scan;

/// Scans the log from the current position of `file`. Lines that aren't ours
/// stay if they come before the first one beyond the steps done; those of other
/// jobs stay everywhere. A log of another training is HFTA_INVALID_INPUT;
/// `path` is for messages.
hfta_status hfta_log_scan_file(const hfta_program *program, const char *path,
                               const hfta_log_span *span, FILE *file,
                               hfta_log_scan *out, hfta_error *error);

/// Writes the lines that stay to a file that replaces `path` atomically; after
/// a failure nothing is replaced. `descriptor` is the file that was scanned.
hfta_status hfta_log_rewrite(int descriptor, const char *path,
                             const hfta_log_span *span,
                             const hfta_log_scan *scan, hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_SCAN_H
