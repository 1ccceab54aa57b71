//===- progress_text.h - Text forms of a training's numbers -------*- C -*-===//
//
// Texts that show a training's progress, in lines and in the tables of
// progress_table.h. Errors of writing are ignored.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRESS_PROGRESS_TEXT_H
#define HFTA_SRC_PROGRESS_PROGRESS_TEXT_H

#include "hfta/program.h"
#include "progress/epoch_results.h"

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

/// Formats a duration into `buffer`, as "1:02:03" or "2:03", and returns it.
const char *hfta_duration_text(double seconds, char buffer[32]);

/// Returns the steps per second of this run; 0 before the first step.
double hfta_progress_rate(const hfta_progress_state *state);

/// Formats the time that the training still takes at this rate into `buffer`.
/// Returns it, or "?" if the rate is 0.
const char *hfta_progress_left(const hfta_progress_state *state, double rate,
                               char buffer[32]);

/// Write a line about a step or an epoch, for output that isn't a terminal.
void hfta_print_step(FILE *file, const hfta_progress_state *state);
void hfta_print_epoch(FILE *file, const hfta_progress_state *state);

/// Formats a metric's value into `buffer` and returns it: "88.12 %" for a
/// share, else four digits after the point; "nan" for NaN.
const char *hfta_metric_text(const hfta_metric *metric, double value,
                             char buffer[32]);

#endif // HFTA_SRC_PROGRESS_PROGRESS_TEXT_H
