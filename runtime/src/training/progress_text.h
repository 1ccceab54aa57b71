//===- progress_text.h - Text forms of a training's numbers -------*- C -*-===//
//
// The lines are the same for a training that has the terminal to itself and for
// one that shares it. Functions that write to a file don't check whether
// writing succeeds.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PROGRESS_TEXT_H
#define HFTA_SRC_TRAINING_PROGRESS_TEXT_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stdio.h>

/// The seconds between two drawings of a table.
#define HFTA_REDRAW_SECONDS 0.2

/// The progress of a training. Pointers are borrowed; arrays have one element
/// per copy.
typedef struct hfta_progress_state {
  const hfta_program *program;
  int64_t first_step; ///< steps done before this run
  int64_t total_steps;
  double begin; ///< in seconds
  int64_t step, epoch;
  const double *losses;      ///< mean over the step or the epoch; NULL: none
  const bool *live;          ///< NULL: all run
  const double *eval_losses; ///< losses of the last evaluation; NULL: none yet
  const double *eval_metrics;
} hfta_progress_state;

/// Lines on standard error's terminal that are redrawn in place.
typedef struct hfta_drawing {
  FILE *file; ///< borrowed
  int lines;  ///< number of lines on the screen
  int rows, columns;
} hfta_drawing;

/// Gets the size of the terminal.
void hfta_drawing_measure(hfta_drawing *drawing);

/// Moves the cursor to the first line and clears what is below.
void hfta_drawing_erase(hfta_drawing *drawing);

/// Writes a line, cut to the terminal's width.
void hfta_drawing_put(hfta_drawing *drawing, const char *line);

/// Writes the progress of the training, after the job's name unless it is NULL.
void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state);

/// Writes a heading and the copies' lines, in at most `room` lines but at least
/// two.
void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room);

/// Write a whole line about a step or an epoch, for output other than a
/// terminal.
void hfta_print_step(FILE *file, const hfta_progress_state *state);
void hfta_print_epoch(FILE *file, const hfta_progress_state *state);

/// Returns "88.12 %" for an accuracy, else four digits after the point; "-" for
/// NaN if there is no such number at all.
const char *hfta_metric_text(const hfta_program *program, double value,
                             char buffer[32]);

#endif // HFTA_SRC_TRAINING_PROGRESS_TEXT_H
