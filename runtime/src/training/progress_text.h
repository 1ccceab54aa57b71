//===- progress_text.h - Text forms of a training's numbers -------*- C -*-===//
//
// Texts that show a training's progress. They are the same for a training that
// uses the terminal alone and for several that share it. Errors of writing are
// ignored.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_PROGRESS_TEXT_H
#define HFTA_SRC_TRAINING_PROGRESS_TEXT_H

#include "hfta/program.h"
#include "training/epoch_results.h"

#include <stdbool.h>
#include <stdio.h>

/// The minimum of the seconds between two drawings of a table.
#define HFTA_REDRAW_SECONDS 0.2

/// The progress of a training. Pointers are borrowed; arrays have one element
/// per copy, those of metrics one per copy for each metric.
typedef struct hfta_progress_state {
  const hfta_program *program;
  int64_t first_step;   ///< steps done before this run
  int64_t total_steps;  ///< steps at the end of the training
  double begin;         ///< time (hfta_now) at which this run began
  int64_t step, epoch;  ///< the last step and its epoch, counted from 1
  const double *losses; ///< means over a step or an epoch; NULL: not known
  const bool *live;     ///< whether each copy runs; NULL: all run
  /// Results of the last evaluation of the validation data; NULL: none yet, or
  /// no metric.
  const double *validation_losses, *validation_metrics;
  /// Results of the last evaluation of the test data. If there are both, the
  /// table shows those of the validation data.
  const double *eval_losses, *eval_metrics;
  /// Results of the running averages of weights on these data, for lines alone.
  const double *average_validation_losses, *average_validation_metrics;
  const double *average_eval_losses, *average_eval_metrics;
} hfta_progress_state;

/// Lines on a terminal that are redrawn in place.
typedef struct hfta_drawing {
  FILE *file;        ///< borrowed
  int lines;         ///< number of lines that are drawn now
  int rows, columns; ///< size of the terminal
} hfta_drawing;

/// Returns whether standard error is a terminal on which lines can be redrawn:
/// one that isn't called `dumb` by the environment's TERM, such as that of an
/// editor.
bool hfta_can_redraw(void);

/// Sets `rows` and `columns` to the size of the terminal on standard error; 24
/// and 80 if that is unknown.
void hfta_drawing_measure(hfta_drawing *drawing);

/// Moves the cursor to the first drawn line, and clears the terminal from there
/// on.
void hfta_drawing_erase(hfta_drawing *drawing);

/// Writes a line, cut to the terminal's width, and counts it.
void hfta_drawing_put(hfta_drawing *drawing, const char *line);

/// Writes a line about the training's progress. It begins with the job's name
/// unless that is NULL.
void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state);

/// Writes a heading and, below it, at most max(`room`, 2) lines for the copies.
/// If they aren't enough, the last one tells how many copies aren't shown.
void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room);

/// Write a line about a step or an epoch, for output that isn't a terminal.
void hfta_print_step(FILE *file, const hfta_progress_state *state);
void hfta_print_epoch(FILE *file, const hfta_progress_state *state);

/// Formats a metric's value into `buffer` and returns it: "88.12 %" for a
/// share, else four digits after the point; "nan" for NaN.
const char *hfta_metric_text(const hfta_metric *metric, double value,
                             char buffer[32]);

#endif // HFTA_SRC_TRAINING_PROGRESS_TEXT_H
