//===- progress.h - Progress that users see during training -------*- C -*-===//
//
// On a terminal this is a table of copies that is updated in place, a few times
// per second; elsewhere it is plain lines. Everything goes to standard error,
// or to a screen if other trainings run at the same time.
//
// Threads: an object is used by one thread at a time.
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
  hfta_progress_state state; ///< losses are valid while they are shown
  hfta_drawing drawing;      ///< the drawn table, without a screen
  hfta_screen *screen;       ///< borrowed; NULL: none
  int64_t block;             ///< number of the screen's block
} hfta_progress;

void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every);

/// Shows everything from now on as block number `block` of a screen, which is
/// borrowed; called right after hfta_progress_begin. NULL changes nothing.
void hfta_progress_join(hfta_progress *progress, hfta_screen *screen,
                        int64_t block);

/// Prints a line of its own, above the table.
void hfta_progress_note(hfta_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses);

/// Shows the results of an evaluation; either array may be NULL. They are kept
/// for the table.
void hfta_progress_epoch(hfta_progress *progress, int64_t step, int64_t epoch,
                         const double *train_losses, const double *eval_losses,
                         const double *eval_metrics);

/// Leaves the table as it stands. The code that opened the screen reports the
/// training's outcome to it.
void hfta_progress_end(hfta_progress *progress);

#endif // HFTA_SRC_TRAINING_PROGRESS_H
