//===- progress.h - What a person sees while it trains ----------*- C -*-===//
//
// On a terminal a table of copies that is updated in place, a few times a
// second; elsewhere plain lines. Everything goes to standard error, or to a
// screen where other trainings go on at the same time.
//
// Threads: one at a time an object.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PROGRESS_H
#define HFTA_SRC_TRAINING_PROGRESS_H

#include "training/progress_text.h"
#include "training/screen.h"

typedef struct hfta_progress {
  bool enabled;
  bool terminal;
  int64_t line_every; ///< without a terminal: steps between two lines
  double last_draw;
  hfta_progress_state state; ///< losses are there while they are shown
  hfta_drawing drawing;      ///< of the table, without a screen
  hfta_screen *screen;       ///< borrowed; NULL: none
  int64_t block;             ///< of the screen
} hfta_progress;

void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every);

/// Right after it: from now on all is shown as block number `block` of a
/// screen, which is borrowed. NULL: nothing changes.
void hfta_progress_join(hfta_progress *progress, hfta_screen *screen,
                        int64_t block);

/// A line of its own, above the table.
void hfta_progress_note(hfta_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses);

/// After an evaluation; either array may be NULL. They are kept for the table.
void hfta_progress_epoch(hfta_progress *progress, int64_t step, int64_t epoch,
                         const double *train_losses, const double *eval_losses,
                         const double *eval_metrics);

/// Leaves the table as it stands. What became of the training is told to the
/// screen by who opened it.
void hfta_progress_end(hfta_progress *progress);

#endif // HFTA_SRC_TRAINING_PROGRESS_H
