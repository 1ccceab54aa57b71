//===- progress_table.c - A training's numbers on a terminal --------------===//

#include "progress/progress_table.h"

#include "hfta/json.h"
#include "program/metric_values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// A part of the line about the state.
typedef struct piece {
  char text[64];
  int order;     ///< its place among the pieces, by importance, from 0
  bool is_shown; ///< whether it fits
} piece;

enum { PIECES = 6, LEAST_BAR = 8, MOST_BAR = 30 };

/// Fills the pieces in the order in which they are shown.
static void fill_pieces(const hfta_progress_state *state,
                        piece pieces[PIECES]) {
  char left[32];
  double rate = hfta_progress_rate(state);
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  static const int orders[PIECES] = {1, 0, 4, 3, 2, 5};
  for (int i = 0; i < PIECES; ++i)
    pieces[i] = (piece){.order = orders[i]};
  if (state->total_steps > 0)
    snprintf(pieces[0].text, sizeof(pieces[0].text), "%lld %%",
             (long long)(100 * state->step / state->total_steps));
  snprintf(pieces[1].text, sizeof(pieces[1].text), "step %lld/%lld",
           (long long)state->step, (long long)state->total_steps);
  snprintf(pieces[2].text, sizeof(pieces[2].text), "epoch %lld",
           (long long)state->epoch);
  snprintf(pieces[3].text, sizeof(pieces[3].text), "%.1f steps/s", rate);
  snprintf(pieces[4].text, sizeof(pieces[4].text), "%s left",
           hfta_progress_left(state, rate, left));
  // Linux counts KiB.
  snprintf(pieces[5].text, sizeof(pieces[5].text), "%ld MiB",
           usage.ru_maxrss / 1024);
}

/// Marks the most important pieces that fit into `room` characters, with two
/// spaces before each. Returns the characters that are left.
static int choose_pieces(piece pieces[PIECES], int room) {
  for (int order = 0; order < PIECES; ++order)
    for (int i = 0; i < PIECES; ++i) {
      int width = (int)strlen(pieces[i].text) + 2;
      if (pieces[i].order != order || width == 2)
        continue;
      if (width > room)
        return room;
      pieces[i].is_shown = true;
      room -= width;
    }
  return room;
}

/// Appends a bar of `width` characters.
static void add_bar(hfta_line *line, const hfta_progress_state *state,
                    int width) {
  int64_t total = state->total_steps > 0 ? state->total_steps : 1;
  int done = (int)((double)width * (double)state->step / (double)total);
  done = done < 0 ? 0 : done > width ? width : done;
  for (int i = 0; i < done; ++i)
    hfta_line_add(line, HFTA_STYLE_PLAIN, line->terminal->is_utf8 ? "█" : "#");
  for (int i = done; i < width; ++i)
    hfta_line_add(line, HFTA_STYLE_FAINT, line->terminal->is_utf8 ? "░" : "-");
}

void hfta_drawing_put_state(hfta_drawing *drawing, const char *name,
                            const hfta_progress_state *state) {
  hfta_line line;
  hfta_drawing_begin_line(drawing, &line);
  if (name)
    hfta_line_add(&line, HFTA_STYLE_BOLD, "%.320s", name);
  piece pieces[PIECES];
  fill_pieces(state, pieces);
  int start = line.width;
  // The first text has no spaces before it.
  int left = choose_pieces(pieces, line.most - start + (start == 0 ? 2 : 0));
  int bar = left - 2 < MOST_BAR ? left - 2 : MOST_BAR;
  if (bar >= LEAST_BAR) {
    hfta_line_pad(&line, start > 0 ? start + 2 : 0);
    add_bar(&line, state, bar);
  }
  for (int i = 0; i < PIECES; ++i)
    if (pieces[i].is_shown)
      hfta_line_add(&line, HFTA_STYLE_PLAIN, "%s%s", line.width > 0 ? "  " : "",
                    pieces[i].text);
  hfta_drawing_put(drawing, &line);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

hfta_style hfta_line_mark(hfta_line *line, const hfta_ranking *ranking,
                          int64_t copy, bool is_best) {
  bool is_utf8 = line->terminal->is_utf8;
  hfta_style style = HFTA_STYLE_PLAIN;
  const char *mark = " ";
  if (ranking->live && !ranking->live[copy]) {
    style = HFTA_STYLE_FAINT;
    mark = "-";
  } else if (hfta_has_diverged(ranking, copy)) {
    style = HFTA_STYLE_BAD;
    mark = is_utf8 ? "✕" : "x";
  } else if (is_best) {
    style = HFTA_STYLE_GOOD;
    mark = is_utf8 ? "★" : "*";
  }
  hfta_line_add(line, style, "%s ", mark);
  return style;
}

bool hfta_hyper_parameter_differs(const hfta_program *program, uint32_t index) {
  const double *values = program->hyper_parameters[index].values;
  for (int64_t copy = 1; copy < program->copies; ++copy)
    if (values[copy] != values[0])
      return true;
  return false;
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
  return (evaluation){state->eval_losses ? "test loss" : "",
                      state->eval_losses ? 12 : 0, state->eval_losses,
                      state->eval_metrics};
}

enum { COPY_WIDTH = 6, LOSS_WIDTH = 12, LEAST_METRIC = 12, VALUE_BYTES = 64 };

static int metric_width(const hfta_metric *metric) {
  int width = (int)strlen(metric->name) + 2;
  return width < LEAST_METRIC ? LEAST_METRIC : width;
}

/// The table's columns of hyper-parameters: of the first ones that fit.
typedef struct parameter_columns {
  const hfta_program *program;
  int *widths; ///< one per hyper-parameter; 0: it isn't shown
} parameter_columns;

/// Returns the width of a hyper-parameter's column.
static int parameter_width(const hfta_program *program, uint32_t index) {
  char buffer[VALUE_BYTES];
  size_t width = strlen(program->hyper_parameters[index].name);
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    hfta_number_text(program->hyper_parameters[index].values[copy], HFTA_F64,
                     buffer);
    size_t own = strlen(buffer);
    width = own > width ? own : width;
  }
  return (int)width + 2;
}

/// Chooses the columns that fit beside those of the results. `widths` stays
/// NULL if there isn't enough memory.
static parameter_columns choose_parameters(const hfta_drawing *drawing,
                                           const hfta_program *program,
                                           const evaluation *last) {
  parameter_columns columns = {program, NULL};
  int room = drawing->columns - 1 - HFTA_MARK_WIDTH - COPY_WIDTH - LOSS_WIDTH -
             last->width;
  for (uint32_t i = 0; last->metrics && i < program->metric_count; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i]))
      room -= metric_width(&program->metrics[i]);
  columns.widths =
      calloc(program->hyper_parameter_count + 1, sizeof(*columns.widths));
  for (uint32_t i = 0; columns.widths && i < program->hyper_parameter_count;
       ++i) {
    if (!hfta_hyper_parameter_differs(program, i))
      continue;
    int width = parameter_width(program, i);
    if (width > room)
      break;
    columns.widths[i] = width;
    room -= width;
  }
  return columns;
}

/// Appends the columns of hyper-parameters: a copy's values, or with copy -1
/// their names.
static void add_parameters(hfta_line *line, hfta_style style,
                           const parameter_columns *columns, int64_t copy) {
  char buffer[VALUE_BYTES];
  for (uint32_t i = 0;
       columns->widths && i < columns->program->hyper_parameter_count; ++i) {
    if (columns->widths[i] == 0)
      continue;
    const hfta_hyper_parameter *one = &columns->program->hyper_parameters[i];
    if (copy >= 0)
      hfta_number_text(one->values[copy], HFTA_F64, buffer);
    hfta_line_add(line, style, "%-*s", columns->widths[i],
                  copy < 0 ? one->name : buffer);
  }
}

/// Appends the columns of metrics: a copy's values, or with copy -1 their
/// names. A matrix has no column.
static void add_metrics(hfta_line *line, hfta_style style,
                        const hfta_program *program, const double *metrics,
                        int64_t copy) {
  char value[32];
  for (uint32_t i = 0; metrics && i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    if (hfta_metric_is_matrix(metric))
      continue;
    hfta_line_add(
        line, style, "%-*s", metric_width(metric),
        copy < 0 ? metric->name
                 : hfta_metric_text(metric, metrics[i * program->copies + copy],
                                    value));
  }
}

static void put_heading(hfta_drawing *drawing, const evaluation *last,
                        const parameter_columns *columns) {
  hfta_line line;
  hfta_drawing_begin_line(drawing, &line);
  hfta_line_pad(&line, HFTA_MARK_WIDTH);
  hfta_line_add(&line, HFTA_STYLE_BOLD, "%-*s", COPY_WIDTH, "copy");
  add_parameters(&line, HFTA_STYLE_BOLD, columns, -1);
  hfta_line_add(&line, HFTA_STYLE_BOLD, "%-*s%-*s", LOSS_WIDTH, "loss",
                last->width, last->name);
  add_metrics(&line, HFTA_STYLE_BOLD, columns->program, last->metrics, -1);
  hfta_drawing_put(drawing, &line);
}

static void put_copy(hfta_drawing *drawing, const hfta_progress_state *state,
                     const evaluation *last, const parameter_columns *columns,
                     const hfta_ranking *ranking, int64_t copy, bool is_best) {
  hfta_line line;
  hfta_drawing_begin_line(drawing, &line);
  hfta_style style = hfta_line_mark(&line, ranking, copy, is_best);
  hfta_line_add(&line, style, "%-*lld", COPY_WIDTH, (long long)copy);
  add_parameters(&line, style, columns, copy);
  if (!state->live || state->live[copy]) {
    char loss[32] = "";
    if (last->losses)
      snprintf(loss, sizeof(loss), "%.5g", last->losses[copy]);
    hfta_line_add(&line, style, "%-*.5g%-*s", LOSS_WIDTH, state->losses[copy],
                  last->width, loss);
    add_metrics(&line, style, state->program, last->metrics, copy);
  }
  hfta_drawing_put(drawing, &line);
}

void hfta_drawing_put_copies(hfta_drawing *drawing,
                             const hfta_progress_state *state, int64_t room) {
  const hfta_program *program = state->program;
  int64_t copies = program->copies;
  int64_t shown = copies <= room ? copies : room > 2 ? room - 1 : 1;
  const evaluation last = find_evaluation(state);
  hfta_ranking ranking =
      hfta_rank_by(program, state->validation_losses, state->validation_metrics,
                   state->eval_losses, state->eval_metrics);
  ranking.live = state->live;
  if (!ranking.losses)
    ranking.losses = state->losses;
  int64_t *order = calloc((size_t)copies, sizeof(*order));
  parameter_columns columns = choose_parameters(drawing, program, &last);
  put_heading(drawing, &last, &columns);
  int64_t scored = order ? hfta_rank_copies(program, &ranking, order) : 0;
  for (int64_t i = 0; order && i < shown; ++i)
    put_copy(drawing, state, &last, &columns, &ranking, order[i],
             i == 0 && scored > 1);
  if (shown < copies) {
    hfta_line line;
    hfta_drawing_begin_line(drawing, &line);
    hfta_line_pad(&line, HFTA_MARK_WIDTH);
    hfta_line_add(&line, HFTA_STYLE_FAINT, "... and %lld more",
                  (long long)(copies - shown));
    hfta_drawing_put(drawing, &line);
  }
  free(order);
  free(columns.widths);
}
