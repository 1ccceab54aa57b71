//===- progress_text.h - How a training's numbers are written ---*- C -*-===//
//
// For a training that has the terminal for itself and for one that shares it:
// the lines are the same. What writes to a file doesn't look at whether that
// works.
//
// Threads: one at a time an object.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PROGRESS_TEXT_H
#define HFTA_SRC_TRAINING_PROGRESS_TEXT_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stdio.h>

/// Seconds from one drawing of a table to the next one.
#define HFTA_REDRAW_SECONDS 0.2

/// How far a training is. What it points to is borrowed; arrays have one
/// element a copy.
typedef struct hfta_progress_state {
  const hfta_program *program;
  int64_t first_step; ///< steps done before this process
  int64_t total_steps;
  double begin; ///< seconds
  int64_t step, epoch;
  const double *losses;      ///< of the step, or of all the epoch's; NULL: none
  const bool *live;          ///< NULL: all run
  const double *eval_losses; ///< of the last evaluation; NULL: none yet
  const double *eval_metrics;
} hfta_progress_state;

/// Lines on standard error's terminal that are written again in their place.
typedef struct hfta_drawing {
  FILE *file; ///< borrowed
  int lines;  ///< that are on the screen
  int rows, columns;
} hfta_drawing;

/// Finds out how large the terminal is.
void hfta_drawing_measure(hfta_drawing *drawing);

/// Moves the cursor to the first line and clears what is below.
void hfta_drawing_erase(hfta_drawing *drawing);

/// A line, cut to the terminal's width.
void hfta_drawing_put(hfta_drawing *drawing, const char *line);

/// How far the training is, behind the job's name. NULL: without one.
void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state);

/// A heading, and in at most `room` lines, but at least in two, the copies'.
void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room);

/// Lines for what is no terminal, each with its end: of a step, and of an
/// epoch.
void hfta_print_step(FILE *file, const hfta_progress_state *state);
void hfta_print_epoch(FILE *file, const hfta_progress_state *state);

/// "88.12 %" for an accuracy, else four digits after the point; "-" for NaN if
/// there is no such number at all.
const char *hfta_metric_text(const hfta_program *program, double value,
                             char buffer[32]);

#endif // HFTA_SRC_TRAINING_PROGRESS_TEXT_H
