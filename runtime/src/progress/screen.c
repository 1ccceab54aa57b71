//===- screen.c - Progress of several trainings at once -------------------===//

#include "progress/screen.h"
#include "system/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct block {
  const char *name;
  bool has_begun, has_numbers, is_finished;
  hfta_screen_outcome outcome;
  int64_t last_step;         ///< the last step of a job that was stopped
  hfta_progress_state state; ///< the last numbers; the arrays belong to the
                             ///< block
  double *numbers;           ///< memory of the state's arrays
  bool *live;                ///< memory of the state's `live`
  bool is_shown; ///< whether the block is part of the current drawing
  int64_t lines; ///< number of lines for its copies in that drawing, including
                 ///< their heading
} block;

struct hfta_screen {
  bool shows;    ///< whether anything is shown at all
  bool terminal; ///< whether standard error is a terminal
  int64_t count;
  pthread_mutex_t mutex; ///< protects the members below
  hfta_drawing drawing;
  bool is_covered;  ///< whether the table was removed to make room for other
                    ///< output
  double last_draw; ///< time (hfta_now) of the last drawing
  block blocks[];
};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Returns whether a job's block has lines for its copies.
static bool is_training(const block *self) {
  return self->has_numbers && !self->is_finished;
}

/// Marks up to `count` blocks as shown; jobs that train come before all others.
static void choose_blocks(hfta_screen *self, int64_t count) {
  for (int64_t i = 0; i < self->count; ++i) {
    self->blocks[i].is_shown = is_training(&self->blocks[i]) && count > 0;
    count -= self->blocks[i].is_shown;
  }
  for (int64_t i = 0; i < self->count && count > 0; ++i) {
    count -= !self->blocks[i].is_shown;
    self->blocks[i].is_shown = true;
  }
}

/// Returns the number of lines that a block needs to show all copies, with
/// their heading.
static int64_t count_wanted(const block *self) {
  bool has_copies = self->is_shown && is_training(self) && self->state.losses;
  return has_copies ? 1 + self->state.program->copies : 0;
}

/// Divides `lines` lines of the terminal equally among the blocks, for their
/// copies. Lines that a block doesn't need go to the other blocks.
static void share_lines(hfta_screen *self, int64_t lines) {
  int64_t open = self->count, share = 0;
  for (int64_t i = 0; i < self->count; ++i)
    self->blocks[i].lines = -1; // undecided
  for (bool has_changed = true; has_changed && open > 0;) {
    has_changed = false;
    share = lines / open;
    for (int64_t i = 0; i < self->count; ++i) {
      block *one = &self->blocks[i];
      if (one->lines >= 0 || count_wanted(one) > share)
        continue;
      one->lines = count_wanted(one);
      lines -= one->lines;
      --open;
      has_changed = true;
    }
  }
  int64_t rest = open > 0 ? lines % open : 0;
  for (int64_t i = 0; i < self->count; ++i)
    if (self->blocks[i].lines < 0)
      self->blocks[i].lines = share + (rest-- > 0);
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

static void add_outcome(hfta_line *line, const block *self) {
  switch (self->outcome) {
  case HFTA_SCREEN_DONE:
    hfta_line_add(line, HFTA_STYLE_GOOD, "done");
    break;
  case HFTA_SCREEN_FAILED:
    hfta_line_add(line, HFTA_STYLE_BAD, "failed");
    break;
  case HFTA_SCREEN_STOPPED:
    hfta_line_add(line, HFTA_STYLE_PLAIN, "stopped after step %lld",
                  (long long)self->last_step);
    break;
  }
}

static void put_block(const block *self, hfta_drawing *drawing) {
  // The heading, one copy, and the number of copies that aren't shown.
  enum { FEWEST_LINES = 3 };
  if (is_training(self)) {
    hfta_drawing_put_state(drawing, self->name, &self->state);
    int64_t wanted = count_wanted(self);
    if (wanted > 0 && (self->lines == wanted || self->lines >= FEWEST_LINES))
      hfta_drawing_put_copies(drawing, &self->state, self->lines - 1);
    return;
  }
  hfta_line line;
  hfta_drawing_begin_line(drawing, &line);
  hfta_line_add(&line, HFTA_STYLE_BOLD, "%.320s", self->name);
  hfta_line_add(&line, HFTA_STYLE_PLAIN, "  ");
  if (self->is_finished)
    add_outcome(&line, self);
  else
    hfta_line_add(&line, HFTA_STYLE_FAINT,
                  self->has_begun ? "starting" : "waiting");
  hfta_drawing_put(drawing, &line);
}

/// Draws the table. One line of the terminal above it stays free, and one below
/// it for the cursor.
static void put_table(hfta_screen *self, hfta_drawing *drawing) {
  hfta_drawing_measure(drawing);
  int64_t room = drawing->rows > 4 ? drawing->rows - 2 : 2;
  int64_t shown = self->count <= room ? self->count : room - 1;
  int64_t others = self->count - shown;
  choose_blocks(self, shown);
  share_lines(self, room - shown - (others > 0));
  for (int64_t i = 0; i < self->count; ++i)
    if (self->blocks[i].is_shown)
      put_block(&self->blocks[i], drawing);
  if (others > 0) {
    hfta_line line;
    hfta_drawing_begin_line(drawing, &line);
    hfta_line_add(&line, HFTA_STYLE_FAINT, "... and %lld more jobs",
                  (long long)others);
    hfta_drawing_put(drawing, &line);
  }
}

/// Writes a line of block `of`, unless `line` is NULL, and on a terminal the
/// table below it. All of this is a single write, so that lines aren't mixed
/// with others and no incomplete table is visible. The caller holds the mutex.
static void show(hfta_screen *self, const block *of, const char *line) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  if (!file)
    return;
  hfta_drawing drawing = self->drawing;
  drawing.file = file;
  hfta_drawing_erase(&drawing);
  if (line)
    fprintf(file, "%s: %s", of->name, line);
  if (self->terminal)
    put_table(self, &drawing);
  if (fclose(file) == 0) {
    (void)fwrite(text, 1, bytes, stderr);
    self->drawing = drawing;
    self->last_draw = hfta_now();
  }
  free(text);
}

//===----------------------------------------------------------------------===//
// For a job's progress
//===----------------------------------------------------------------------===//

static bool is_due(const hfta_screen *self) {
  return hfta_now() - self->last_draw >= HFTA_REDRAW_SECONDS;
}

void hfta_screen_begin(hfta_screen *screen, int64_t block) {
  if (!screen->shows)
    return;
  pthread_mutex_lock(&screen->mutex);
  screen->blocks[block].has_begun = true;
  if (screen->terminal && is_due(screen))
    show(screen, NULL, NULL);
  pthread_mutex_unlock(&screen->mutex);
}

static const double *keep_array(double *to, const double *from, size_t count) {
  return from ? memcpy(to, from, count * sizeof(double)) : NULL;
}

/// Copies the numbers into the block, since other jobs' threads draw the block
/// while its training continues. If there isn't enough memory, the block shows
/// no copies.
static void keep_numbers(block *self, const hfta_progress_state *state) {
  size_t copies = (size_t)state->program->copies;
  size_t metrics = copies * state->program->metric_count;
  if (!self->numbers)
    self->numbers = calloc(3 * copies + 2 * metrics, sizeof(double));
  if (!self->live)
    self->live = calloc(copies, sizeof(bool));
  self->has_numbers = true;
  self->state = *state;
  if (!self->numbers || !self->live) {
    self->state.losses = NULL;
    return;
  }
  self->state.losses = keep_array(self->numbers, state->losses, copies);
  self->state.eval_losses =
      keep_array(self->numbers + copies, state->eval_losses, copies);
  self->state.eval_metrics =
      keep_array(self->numbers + 3 * copies, state->eval_metrics, metrics);
  self->state.validation_losses =
      keep_array(self->numbers + 2 * copies, state->validation_losses, copies);
  self->state.validation_metrics = keep_array(
      self->numbers + 3 * copies + metrics, state->validation_metrics, metrics);
  if (state->live)
    self->state.live = memcpy(self->live, state->live, copies * sizeof(bool));
}

void hfta_screen_update(hfta_screen *screen, int64_t block,
                        const hfta_progress_state *state) {
  if (!screen->terminal)
    return;
  pthread_mutex_lock(&screen->mutex);
  keep_numbers(&screen->blocks[block], state);
  if (state->step == state->total_steps || is_due(screen))
    show(screen, NULL, NULL);
  pthread_mutex_unlock(&screen->mutex);
}

void hfta_screen_line(hfta_screen *screen, int64_t block, const char *line) {
  if (!screen->shows)
    return;
  pthread_mutex_lock(&screen->mutex);
  show(screen, &screen->blocks[block], line);
  pthread_mutex_unlock(&screen->mutex);
}

//===----------------------------------------------------------------------===//
// For the command that runs the jobs
//===----------------------------------------------------------------------===//

static void forget_numbers(block *self) {
  free(self->numbers);
  free(self->live);
  self->numbers = NULL;
  self->live = NULL;
}

void hfta_screen_finish(hfta_screen *screen, int64_t block,
                        hfta_screen_outcome outcome, int64_t step) {
  if (!screen)
    return;
  pthread_mutex_lock(&screen->mutex);
  screen->blocks[block].is_finished = true;
  screen->blocks[block].outcome = outcome;
  screen->blocks[block].last_step = step;
  forget_numbers(&screen->blocks[block]);
  if (screen->drawing.lines > 0)
    show(screen, NULL, NULL);
  pthread_mutex_unlock(&screen->mutex);
}

void hfta_screen_begin_output(hfta_screen *screen) {
  if (!screen)
    return;
  pthread_mutex_lock(&screen->mutex);
  screen->is_covered = screen->drawing.lines > 0;
  screen->drawing.file = stderr;
  hfta_drawing_erase(&screen->drawing);
}

void hfta_screen_end_output(hfta_screen *screen) {
  if (!screen)
    return;
  // Otherwise output that is still buffered would appear within the table.
  fflush(stdout);
  if (screen->is_covered)
    show(screen, NULL, NULL);
  screen->is_covered = false;
  pthread_mutex_unlock(&screen->mutex);
}

hfta_status hfta_screen_open(const char *const *names, int64_t count,
                             bool shows, hfta_screen **out, hfta_error *error) {
  *out = NULL;
  hfta_screen *self =
      calloc(1, sizeof(*self) + (size_t)count * sizeof(self->blocks[0]));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory to show progress");
  self->shows = shows;
  hfta_drawing_begin(&self->drawing, stderr);
  self->terminal = shows && self->drawing.terminal.can_redraw;
  self->count = count;
  pthread_mutex_init(&self->mutex, NULL);
  for (int64_t i = 0; i < count; ++i)
    self->blocks[i].name = names[i];
  *out = self;
  return HFTA_OK;
}

void hfta_screen_close(hfta_screen *screen) {
  if (!screen)
    return;
  for (int64_t i = 0; i < screen->count; ++i)
    forget_numbers(&screen->blocks[i]);
  pthread_mutex_destroy(&screen->mutex);
  free(screen);
}
