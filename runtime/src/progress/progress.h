//===- progress.h - Progress that users see during training -------*- C -*-===//
//
// On a terminal, progress is a table of copies that is updated in place a few
// times per second; elsewhere, it consists of plain lines. It is written to
// standard error, or to a screen (screen.h) if other trainings run at the same
// time.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRESS_PROGRESS_H
#define HFTA_SRC_PROGRESS_PROGRESS_H

#include "progress/progress_table.h"
#include "progress/screen.h"

typedef struct hfta_progress {
  bool enabled;
  bool terminal;             ///< whether standard error is a terminal
  int64_t line_every;        ///< without a terminal: steps between two lines
  double last_draw;          ///< time (hfta_now) of the last drawing
  hfta_progress_state state; ///< current numbers; the arrays of losses are
                             ///< borrowed and valid only while they are shown
  hfta_drawing drawing; ///< the table on the terminal, if there is no screen
  hfta_screen *screen;  ///< borrowed; NULL: none
  int64_t block;        ///< the number of this training's block on the screen
} hfta_progress;

/// Begins to show a training's progress, or nothing unless `enabled`.
/// `line_every` is the number of steps between two lines if standard error
/// isn't a terminal.
void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every);

/// Shows everything as block number `block` of a screen from now on. Called
/// directly after hfta_progress_begin. The screen is borrowed; NULL changes
/// nothing.
void hfta_progress_join(hfta_progress *progress, hfta_screen *screen,
                        int64_t block);

/// Prints a line above the table; `format` has no line break.
void hfta_progress_note(hfta_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Shows a step's losses, one per copy.
void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses);

/// Shows the results of an epoch. Its arrays must stay valid, as the table goes
/// on showing them.
void hfta_progress_epoch(hfta_progress *progress, int64_t step,
                         const hfta_epoch_results *results);

/// Stops updating, and leaves the table on the terminal. If the training has a
/// place on an hfta_screen, which several trainings share, the code that opened
/// the screen must still report the training's outcome to it.
void hfta_progress_end(hfta_progress *progress);

#endif // HFTA_SRC_PROGRESS_PROGRESS_H
