//===- progress.c - What a person sees while it trains --------------------===//

#include "training/progress.h"
#include "system/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double redraw_seconds = 0.2;

const char *hfta_metric_text(const hfta_program *program, double value,
                             char buffer[32]) {
  if (isnan(value))
    snprintf(buffer, 32, "nan");
  else if (strcmp(program->metric, "accuracy") == 0)
    snprintf(buffer, 32, "%.2f %%", 100.0 * value);
  else
    snprintf(buffer, 32, "%.4f", value);
  return buffer;
}

void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every) {
  memset(progress, 0, sizeof(*progress));
  progress->program = program;
  progress->enabled = enabled;
  progress->terminal = enabled && isatty(STDERR_FILENO);
  progress->first_step = first_step;
  progress->total_steps = total_steps;
  progress->line_every = line_every;
  progress->begin = hfta_now();
}

/// Moves the cursor to the table's first line and clears what is below.
static void erase_table(hfta_progress *progress) {
  if (progress->drawn_lines > 0)
    fprintf(stderr, "\x1b[%dA\x1b[J", progress->drawn_lines);
  progress->drawn_lines = 0;
}

void hfta_progress_note(hfta_progress *progress, const char *format, ...) {
  if (!progress->enabled)
    return;
  erase_table(progress);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  progress->last_draw = 0;
}

static void format_duration(double seconds, char buffer[32]) {
  long whole = (long)(seconds + 0.5);
  if (whole < 3600)
    snprintf(buffer, 32, "%ld:%02ld", whole / 60, whole % 60);
  else
    snprintf(buffer, 32, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
             whole % 60);
}

static void format_state(const hfta_progress *progress, int64_t step,
                         int64_t epoch, char *buffer, size_t size) {
  double seconds = hfta_now() - progress->begin;
  int64_t done = step - progress->first_step;
  double rate = seconds > 0 ? (double)done / seconds : 0;
  char left[32] = "?";
  if (rate > 0)
    format_duration((double)(progress->total_steps - step) / rate, left);
  snprintf(buffer, size, "step %lld/%lld  epoch %lld  %.1f steps/s  %s left",
           (long long)step, (long long)progress->total_steps, (long long)epoch,
           rate, left);
}

/// Prints a line cut to the terminal's width.
static void put_line(hfta_progress *progress, const char *text, int width) {
  fprintf(stderr, "%.*s\n", width, text);
  ++progress->drawn_lines;
}

static void draw_copy(hfta_progress *progress, int64_t copy, double loss,
                      int width) {
  char line[160], metric[32] = "";
  if (progress->live && !progress->live[copy]) {
    snprintf(line, sizeof(line), "%-6lld-", (long long)copy);
    put_line(progress, line, width);
    return;
  }
  char test[32] = "";
  if (progress->eval_losses)
    snprintf(test, sizeof(test), "%.5g", progress->eval_losses[copy]);
  if (progress->eval_metrics)
    hfta_metric_text(progress->program, progress->eval_metrics[copy], metric);
  snprintf(line, sizeof(line), "%-6lld%-12.5g%-12s%s", (long long)copy, loss,
           test, metric);
  put_line(progress, line, width);
}

static void draw_table(hfta_progress *progress, int64_t step, int64_t epoch,
                       const double *losses) {
  struct winsize size = {0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    size = (struct winsize){.ws_row = 24, .ws_col = 80};
  int64_t copies = progress->program->copies;
  int64_t rows = size.ws_row > 5 ? size.ws_row - 4 : 1;
  int64_t shown = copies <= rows ? copies : rows - 1 > 0 ? rows - 1 : 1;
  char line[160];
  erase_table(progress);
  format_state(progress, step, epoch, line, sizeof(line));
  put_line(progress, line, size.ws_col - 1);
  snprintf(line, sizeof(line), "%-6s%-12s%-12s%s", "copy", "loss",
           progress->eval_losses ? "test loss" : "",
           progress->eval_metrics ? progress->program->metric : "");
  put_line(progress, line, size.ws_col - 1);
  for (int64_t copy = 0; copy < shown; ++copy)
    draw_copy(progress, copy, losses[copy], size.ws_col - 1);
  if (shown < copies) {
    snprintf(line, sizeof(line), "... and %lld more",
             (long long)(copies - shown));
    put_line(progress, line, size.ws_col - 1);
  }
  fflush(stderr);
  progress->last_draw = hfta_now();
}

/// The smallest and largest of the numbers that are numbers.
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

void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses) {
  if (!progress->enabled)
    return;
  bool last = step == progress->total_steps;
  if (progress->terminal) {
    if (last || hfta_now() - progress->last_draw >= redraw_seconds)
      draw_table(progress, step, epoch, losses);
    return;
  }
  bool first = step == progress->first_step + 1;
  if (!first && !last && step % progress->line_every != 0)
    return;
  char line[160];
  double low, high;
  format_state(progress, step, epoch, line, sizeof(line));
  find_range(losses, progress->program->copies, &low, &high);
  fprintf(stderr, "%s  loss %.5g to %.5g\n", line, low, high);
}

void hfta_progress_epoch(hfta_progress *progress, int64_t step, int64_t epoch,
                         const double *train_losses, const double *eval_losses,
                         const double *eval_metrics) {
  progress->eval_losses = eval_losses;
  progress->eval_metrics = eval_metrics;
  if (!progress->enabled)
    return;
  if (progress->terminal) {
    if (step == progress->total_steps ||
        hfta_now() - progress->last_draw >= redraw_seconds)
      draw_table(progress, step, epoch, train_losses);
    return;
  }
  double low, high;
  int64_t copies = progress->program->copies;
  find_range(train_losses, copies, &low, &high);
  fprintf(stderr, "epoch %lld  train loss %.5g to %.5g", (long long)epoch, low,
          high);
  if (eval_losses) {
    find_range(eval_losses, copies, &low, &high);
    fprintf(stderr, "  test loss %.5g to %.5g", low, high);
  }
  if (eval_metrics) {
    char from[32], to[32];
    find_range(eval_metrics, copies, &low, &high);
    fprintf(stderr, "  test %s %s to %s", progress->program->metric,
            hfta_metric_text(progress->program, low, from),
            hfta_metric_text(progress->program, high, to));
  }
  fputc('\n', stderr);
}

void hfta_progress_end(hfta_progress *progress) { progress->drawn_lines = 0; }
