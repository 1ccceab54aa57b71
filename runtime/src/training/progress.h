//===- progress.h - What a person sees while it trains ----------*- C -*-===//
//
// On a terminal a table of copies that is updated in place, a few times a
// second; elsewhere plain lines. Everything goes to standard error.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PROGRESS_H
#define HFTA_SRC_TRAINING_PROGRESS_H

#include "hfta/program.h"

#include <stdbool.h>

typedef struct hfta_progress {
  const hfta_program *program;
  bool enabled;
  bool terminal;
  int64_t total_steps;
  int64_t first_step; ///< steps done before this process
  int64_t line_every; ///< without a terminal: steps between two lines
  int drawn_lines;    ///< of the table on the screen
  double begin;       ///< seconds
  double last_draw;
  const bool *live;          ///< one a copy, borrowed; NULL: all run
  const double *eval_losses; ///< of the last evaluation; NULL: none yet
  const double *eval_metrics;
} hfta_progress;

void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every);

/// A line of its own, above the table.
void hfta_progress_note(hfta_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses);

/// After an evaluation; either array may be NULL. They are kept for the table.
void hfta_progress_epoch(hfta_progress *progress, int64_t step, int64_t epoch,
                         const double *train_losses, const double *eval_losses,
                         const double *eval_metrics);

/// Leaves the table as it stands.
void hfta_progress_end(hfta_progress *progress);

/// "88.12 %" for an accuracy, else four digits after the point; "-" for NaN if
/// there is no such number at all.
const char *hfta_metric_text(const hfta_program *program, double value,
                             char buffer[32]);

#endif // HFTA_SRC_TRAINING_PROGRESS_H
