//===- progress.c - Progress that users see during training ---------------===//

#include "progress/progress.h"
#include "system/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void hfta_progress_begin(hfta_progress *progress, const hfta_program *program,
                         bool enabled, int64_t first_step, int64_t total_steps,
                         int64_t line_every) {
  memset(progress, 0, sizeof(*progress));
  progress->enabled = enabled;
  progress->line_every = line_every;
  hfta_drawing_begin(&progress->drawing, stderr);
  progress->terminal = enabled && progress->drawing.terminal.can_redraw;
  progress->state = (hfta_progress_state){.program = program,
                                          .first_step = first_step,
                                          .total_steps = total_steps,
                                          .begin = hfta_now()};
}

void hfta_progress_join(hfta_progress *progress, hfta_screen *screen,
                        int64_t block) {
  progress->screen = screen;
  progress->block = block;
  if (screen && progress->enabled)
    hfta_screen_begin(screen, block);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// A line that is being written above the table. With a screen, it is collected
/// in memory and passed to the screen when it is complete.
typedef struct line {
  FILE *file; ///< NULL if there isn't enough memory
  char *text;
  size_t bytes;
} line;

static void begin_line(hfta_progress *progress, line *out) {
  *out = (line){.file = stderr};
  if (progress->screen)
    out->file = open_memstream(&out->text, &out->bytes);
  else
    hfta_drawing_erase(&progress->drawing);
}

static void end_line(hfta_progress *progress, line *self) {
  if (!progress->screen)
    return;
  if (self->file && fclose(self->file) == 0)
    hfta_screen_line(progress->screen, progress->block, self->text);
  free(self->text);
}

void hfta_progress_note(hfta_progress *progress, const char *format, ...) {
  if (!progress->enabled)
    return;
  line note;
  begin_line(progress, &note);
  if (note.file) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(note.file, format, arguments);
    va_end(arguments);
    fputc('\n', note.file);
  }
  end_line(progress, &note);
  progress->last_draw = 0;
}

static void print_line(hfta_progress *progress,
                       void (*print)(FILE *, const hfta_progress_state *)) {
  line numbers;
  begin_line(progress, &numbers);
  if (numbers.file)
    print(numbers.file, &progress->state);
  end_line(progress, &numbers);
}

//===----------------------------------------------------------------------===//
// The table on the terminal
//===----------------------------------------------------------------------===//

static void draw_table(hfta_progress *progress) {
  hfta_drawing *drawing = &progress->drawing;
  hfta_drawing_measure(drawing);
  int64_t rows = drawing->rows > 5 ? drawing->rows - 4 : 1;
  hfta_drawing_erase(drawing);
  hfta_drawing_put_state(drawing, NULL, &progress->state);
  hfta_drawing_put_copies(drawing, &progress->state, rows);
  fflush(stderr);
  progress->last_draw = hfta_now();
}

/// Draws the table if enough time has passed since the last drawing, or after
/// the last step. With a screen, the screen does this.
static void update_table(hfta_progress *progress) {
  const hfta_progress_state *state = &progress->state;
  if (progress->screen)
    hfta_screen_update(progress->screen, progress->block, state);
  else if (state->step == state->total_steps ||
           hfta_now() - progress->last_draw >= HFTA_REDRAW_SECONDS)
    draw_table(progress);
}

void hfta_progress_step(hfta_progress *progress, int64_t step, int64_t epoch,
                        const double *losses) {
  hfta_progress_state *state = &progress->state;
  state->step = step;
  state->epoch = epoch;
  state->losses = losses;
  if (!progress->enabled)
    return;
  bool is_first = step == state->first_step + 1;
  bool is_last = step == state->total_steps;
  if (progress->terminal)
    update_table(progress);
  else if (is_first || is_last || step % progress->line_every == 0)
    print_line(progress, hfta_print_step);
}

void hfta_progress_epoch(hfta_progress *progress, int64_t step,
                         const hfta_epoch_results *results) {
  hfta_progress_state *state = &progress->state;
  state->step = step;
  state->epoch = results->epoch;
  state->losses = results->train_losses;
  // A line shows what has just been evaluated, a table the last results.
  if (!progress->terminal || results->validation_losses) {
    state->validation_losses = results->validation_losses;
    state->validation_metrics = results->validation_metrics;
  }
  if (!progress->terminal || results->eval_losses) {
    state->eval_losses = results->eval_losses;
    state->eval_metrics = results->eval_metrics;
  }
  state->average_validation_losses = results->average_validation_losses;
  state->average_validation_metrics = results->average_validation_metrics;
  state->average_eval_losses = results->average_eval_losses;
  state->average_eval_metrics = results->average_eval_metrics;
  if (!progress->enabled)
    return;
  if (progress->terminal)
    update_table(progress);
  else
    print_line(progress, hfta_print_epoch);
}

void hfta_progress_end(hfta_progress *progress) { progress->drawing.lines = 0; }
