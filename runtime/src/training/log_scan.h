//===- log_scan.h - What an older run has logged ----------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_LOG_SCAN_H
#define HFTA_SRC_TRAINING_LOG_SCAN_H

#include "training/log.h"

#include <stdio.h>

/// What of a log stays when a training goes on from `steps_done`.
typedef struct hfta_log_scan {
  int64_t kept_bytes;  ///< whole lines, before the first one that goes
  int64_t moved_bytes; ///< other jobs' lines behind that
  int64_t end;         ///< of the last whole line
  int64_t last_epoch;  ///< of the last epoch event that stays; 0: none
  bool has_lines;      ///< some that stay are ours
} hfta_log_scan;

/// Reads the log from where `file` stands. Lines that aren't ours stay, as far
/// as they stand before the first one that is beyond the steps done; those of
/// other jobs stay everywhere. A log of another training is HFTA_INVALID_INPUT;
/// `path` is for messages.
hfta_status hfta_log_scan_file(const hfta_program *program, const char *path,
                               const hfta_log_span *span, FILE *file,
                               hfta_log_scan *out, hfta_error *error);

/// Writes the lines that stay to a file that takes the place of `path`, at once
/// or, after a failure, not at all. `descriptor` is the file that was scanned.
hfta_status hfta_log_rewrite(int descriptor, const char *path,
                             const hfta_log_span *span,
                             const hfta_log_scan *scan, hfta_error *error);

#endif // HFTA_SRC_TRAINING_LOG_SCAN_H
