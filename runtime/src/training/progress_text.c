//===- progress_text.c - Text forms of a training's numbers ---------------===//

#include "training/progress_text.h"
#include "program/metric_values.h"
#include "system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

static void format_duration(double seconds, char buffer[32]) {
  long whole = (long)(seconds + 0.5);
  if (whole < 3600)
    snprintf(buffer, 32, "%ld:%02ld", whole / 60, whole % 60);
  else
    snprintf(buffer, 32, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
             whole % 60);
}

static void format_state(const hfta_progress_state *state, char *buffer,
                         size_t size) {
  double seconds = hfta_now() - state->begin;
  int64_t done = state->step - state->first_step;
  double rate = seconds > 0 ? (double)done / seconds : 0;
  char left[32] = "?";
  if (rate > 0)
    format_duration((double)(state->total_steps - state->step) / rate, left);
  snprintf(buffer, size, "step %lld/%lld  epoch %lld  %.1f steps/s  %s left",
           (long long)state->step, (long long)state->total_steps,
           (long long)state->epoch, rate, left);
}

//===----------------------------------------------------------------------===//
// The table on a terminal
//===----------------------------------------------------------------------===//

bool hfta_can_redraw(void) {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

void hfta_drawing_measure(hfta_drawing *drawing) {
  struct winsize size = {0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    size = (struct winsize){.ws_row = 24, .ws_col = 80};
  drawing->rows = size.ws_row;
  drawing->columns = size.ws_col;
}

void hfta_drawing_erase(hfta_drawing *drawing) {
  if (drawing->lines > 0)
    fprintf(drawing->file, "\x1b[%dA\x1b[J", drawing->lines);
  drawing->lines = 0;
}

void hfta_drawing_put(hfta_drawing *drawing, const char *line) {
  fprintf(drawing->file, "%.*s\n", drawing->columns - 1, line);
  ++drawing->lines;
}

void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state) {
  char line[512], text[160];
  format_state(state, text, sizeof(text));
  snprintf(line, sizeof(line), "%.320s%s%s", name ? name : "", name ? "  " : "",
           text);
  hfta_drawing_put(drawing, line);
}

/// The columns of the table that show an evaluation.
typedef struct evaluation {
  const char *name; ///< name of the losses' column; "" without losses
  int width;        ///< width of this column
  const double *losses, *metrics;
} evaluation;

static evaluation find_evaluation(const hfta_progress_state *state) {
  if (state->validation_losses)
    return (evaluation){"validation loss", 17, state->validation_losses,
                        state->validation_metrics};
  return (evaluation){state->eval_losses ? "test loss" : "", 12,
                      state->eval_losses, state->eval_metrics};
}

/// Appends the columns of metrics to a line: their names or, unless `metrics`
/// is NULL, a copy's values. A matrix has no column.
static void append_metrics(char *line, size_t size, const hfta_program *program,
                           const double *metrics, int64_t copy) {
  char value[32];
  for (uint32_t i = 0; i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    size_t length = strlen(line);
    bool is_last = true;
    for (uint32_t j = i + 1; j < program->metric_count; ++j)
      is_last &= hfta_metric_is_matrix(&program->metrics[j]);
    if (hfta_metric_is_matrix(metric))
      continue;
    int width = (int)strlen(metric->name) + 2;
    const char *text =
        metrics ? hfta_metric_text(metric, metrics[i * program->copies + copy],
                                   value)
                : metric->name;
    snprintf(line + length, size - length, "%-*s",
             is_last      ? 0
             : width < 12 ? 12
                          : width,
             text);
  }
}

static void put_copy(hfta_drawing *drawing, const hfta_progress_state *state,
                     int64_t copy) {
  char line[512];
  const evaluation last = find_evaluation(state);
  if (state->live && !state->live[copy]) {
    snprintf(line, sizeof(line), "%-6lld-", (long long)copy);
    hfta_drawing_put(drawing, line);
    return;
  }
  char loss[32] = "";
  if (last.losses)
    snprintf(loss, sizeof(loss), "%.5g", last.losses[copy]);
  snprintf(line, sizeof(line), "%-6lld%-12.5g%-*s", (long long)copy,
           state->losses[copy], last.width, loss);
  if (last.metrics)
    append_metrics(line, sizeof(line), state->program, last.metrics, copy);
  hfta_drawing_put(drawing, line);
}

void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room) {
  int64_t copies = state->program->copies;
  int64_t shown = copies <= room ? copies : room > 2 ? room - 1 : 1;
  char line[512];
  const evaluation last = find_evaluation(state);
  snprintf(line, sizeof(line), "%-6s%-12s%-*s", "copy", "loss", last.width,
           last.name);
  if (last.metrics)
    append_metrics(line, sizeof(line), state->program, NULL, 0);
  hfta_drawing_put(drawing, line);
  for (int64_t copy = 0; copy < shown; ++copy)
    put_copy(drawing, state, copy);
  if (shown < copies) {
    snprintf(line, sizeof(line), "... and %lld more",
             (long long)(copies - shown));
    hfta_drawing_put(drawing, line);
  }
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
