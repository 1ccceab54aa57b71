//===- progress_text.c - Text forms of a training's numbers ---------------===//

#include "progress/progress_text.h"
#include "program/metric_values.h"
#include "system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *hfta_metric_text(const hfta_metric *metric, double value,
                             char buffer[32]) {
  if (isnan(value))
    snprintf(buffer, 32, "nan");
  else if (metric->is_share)
    snprintf(buffer, 32, "%.2f %%", 100.0 * value);
  else
    snprintf(buffer, 32, "%.4f", value);
  return buffer;
}

const char *hfta_duration_text(double seconds, char buffer[32]) {
  long whole = (long)(seconds + 0.5);
  if (whole < 3600)
    snprintf(buffer, 32, "%ld:%02ld", whole / 60, whole % 60);
  else
    snprintf(buffer, 32, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
             whole % 60);
  return buffer;
}

double hfta_progress_rate(const hfta_progress_state *state) {
  double seconds = hfta_now() - state->begin;
  int64_t done = state->step - state->first_step;
  return seconds > 0 ? (double)done / seconds : 0;
}

const char *hfta_progress_left(const hfta_progress_state *state, double rate,
                               char buffer[32]) {
  if (!(rate > 0))
    return "?";
  return hfta_duration_text((double)(state->total_steps - state->step) / rate,
                            buffer);
}

static void format_state(const hfta_progress_state *state, char *buffer,
                         size_t size) {
  char left[32];
  double rate = hfta_progress_rate(state);
  snprintf(buffer, size, "step %lld/%lld  epoch %lld  %.1f steps/s  %s left",
           (long long)state->step, (long long)state->total_steps,
           (long long)state->epoch, rate,
           hfta_progress_left(state, rate, left));
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Finds the smallest and the largest of the values that aren't NaN; both
/// become NaN if all values are.
static void find_range(const double *values, int64_t count, double *low,
                       double *high) {
  *low = NAN;
  *high = NAN;
  for (int64_t i = 0; i < count; ++i) {
    if (!(values[i] >= *low))
      *low = values[i] == values[i] ? values[i] : *low;
    if (!(values[i] <= *high))
      *high = values[i] == values[i] ? values[i] : *high;
  }
}

void hfta_print_step(FILE *file, const hfta_progress_state *state) {
  char line[160];
  double low, high;
  format_state(state, line, sizeof(line));
  find_range(state->losses, state->program->copies, &low, &high);
  fprintf(file, "%s  loss %.5g to %.5g\n", line, low, high);
}

/// Prints the ranges of an evaluation's results, which may be NULL.
static void print_evaluation(FILE *file, const hfta_progress_state *state,
                             const char *data, const double *losses,
                             const double *metrics) {
  double low, high;
  int64_t copies = state->program->copies;
  if (losses) {
    find_range(losses, copies, &low, &high);
    fprintf(file, "  %s loss %.5g to %.5g", data, low, high);
  }
  for (uint32_t i = 0; metrics && i < state->program->metric_count; ++i) {
    const hfta_metric *metric = &state->program->metrics[i];
    char from[32], to[32];
    if (hfta_metric_is_matrix(metric))
      continue;
    find_range(metrics + i * copies, copies, &low, &high);
    fprintf(file, "  %s %s %s to %s", data, metric->name,
            hfta_metric_text(metric, low, from),
            hfta_metric_text(metric, high, to));
  }
}

void hfta_print_epoch(FILE *file, const hfta_progress_state *state) {
  double low, high;
  int64_t copies = state->program->copies;
  find_range(state->losses, copies, &low, &high);
  fprintf(file, "epoch %lld  train loss %.5g to %.5g", (long long)state->epoch,
          low, high);
  print_evaluation(file, state, "validation", state->validation_losses,
                   state->validation_metrics);
  print_evaluation(file, state, "average's validation",
                   state->average_validation_losses,
                   state->average_validation_metrics);
  print_evaluation(file, state, "test", state->eval_losses,
                   state->eval_metrics);
  print_evaluation(file, state, "average's test", state->average_eval_losses,
                   state->average_eval_metrics);
  fputc('\n', file);
}
