//===- table.c - A table with one line per copy ---------------------------===//

#include "command_line/table.h"

#include "hfta/communicator.h"
#include "hfta/json.h"
#include "hfta/program_queries.h"
#include "program/metric_values.h"
#include "progress/progress_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_BYTES = 64, MAX_COLUMNS = 64, LEAST_RANKED = 10 };

typedef struct column {
  char name[CELL_BYTES];
  const double *values;
  const int64_t *steps;      ///< for kind STEP
  const bool *live;          ///< whether a copy has a value; NULL: all have
  const hfta_metric *metric; ///< for kind METRIC
  enum { NUMBER, EXACT, METRIC, COPY, STEP, OPTIMIZER } kind;
  int width;
} column;

bool hfta_hyper_parameter_shown(const hfta_program *program, uint32_t index) {
  return strcmp(program->hyper_parameters[index].name, "lr") == 0 ||
         hfta_hyper_parameter_differs(program, index);
}

/// Returns the text of a cell, which is in `buffer` or a constant.
static const char *cell_text(const hfta_program *program, const column *self,
                             int64_t copy, char buffer[CELL_BYTES]) {
  double value = self->values ? self->values[copy] : 0.0;
  if (self->live && !self->live[copy])
    return "-";
  switch (self->kind) {
  case COPY:
    snprintf(buffer, CELL_BYTES, "%lld", (long long)copy);
    break;
  case STEP:
    if (self->steps[copy] == 0)
      return "-";
    snprintf(buffer, CELL_BYTES, "%lld", (long long)self->steps[copy]);
    break;
  case OPTIMIZER:
    return program->optimizers[copy];
  case EXACT:
    if (isnan(value))
      return "-";
    hfta_number_text(value, HFTA_F64, buffer);
    break;
  case METRIC:
    hfta_metric_text(self->metric, value, buffer);
    break;
  case NUMBER:
    if (isfinite(value))
      snprintf(buffer, CELL_BYTES, "%.5g", value);
    else
      hfta_number_text(value, HFTA_F64, buffer);
    break;
  }
  return buffer;
}

static void add_column(column *columns, int *count, const char *name,
                       const double *values, int kind) {
  if (*count == MAX_COLUMNS)
    return;
  column *added = &columns[(*count)++];
  snprintf(added->name, sizeof(added->name), "%s", name);
  added->values = values;
  added->kind = kind;
}

/// Adds a column of counts, unless it is NULL or all counts are 0.
static void add_count(const hfta_program *program, column *columns, int *count,
                      const char *name, const double *values) {
  for (int64_t copy = 0; values && copy < program->copies; ++copy)
    if (values[copy] != 0) {
      add_column(columns, count, name, values, NUMBER);
      return;
    }
}

/// Adds the column of the steps of best weights, unless it is NULL or all steps
/// are 0.
static void add_best(const hfta_program *program, column *columns, int *count,
                     const int64_t *steps) {
  bool has_any = false;
  for (int64_t copy = 0; steps && copy < program->copies; ++copy)
    has_any |= steps[copy] > 0;
  if (!has_any || *count == MAX_COLUMNS)
    return;
  add_column(columns, count, "best step", NULL, STEP);
  columns[*count - 1].steps = steps;
}

/// Adds columns of the results on some data, unless they are NULL.
static void add_evaluation(const hfta_program *program, column *columns,
                           int *count, const char *data, const double *losses,
                           const double *metrics) {
  char name[CELL_BYTES];
  snprintf(name, sizeof(name), "%s loss", data);
  if (losses)
    add_column(columns, count, name, losses, NUMBER);
  for (uint32_t i = 0; losses && i < program->loss_term_count; ++i) {
    snprintf(name, sizeof(name), "%s %.45s", data, program->loss_terms[i].name);
    add_column(columns, count, name, losses + (1 + i) * program->copies,
               NUMBER);
  }
  for (uint32_t i = 0; metrics && i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    if (hfta_metric_is_matrix(metric) || *count == MAX_COLUMNS)
      continue;
    snprintf(name, sizeof(name), "%s %.45s", data, metric->name);
    add_column(columns, count, name, metrics + i * program->copies, METRIC);
    columns[*count - 1].metric = metric;
  }
}

/// Fills `columns` and finds their widths. Returns their number.
static int make_columns(const hfta_program *program,
                        const hfta_results *results, column *columns) {
  int count = 0;
  add_column(columns, &count, "copy", NULL, COPY);
  if (program->optimizers)
    add_column(columns, &count, "optimizer", NULL, OPTIMIZER);
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    if (hfta_hyper_parameter_shown(program, i))
      add_column(columns, &count, program->hyper_parameters[i].name,
                 program->hyper_parameters[i].values, EXACT);
  if (results->train_losses)
    add_column(columns, &count, "train loss", results->train_losses, NUMBER);
  add_best(program, columns, &count, results->best_steps);
  add_evaluation(program, columns, &count, "validation",
                 results->validation_losses, results->validation_metrics);
  add_evaluation(program, columns, &count, "average's validation",
                 results->average_validation_losses,
                 results->average_validation_metrics);
  add_evaluation(program, columns, &count, "test", results->test_losses,
                 results->test_metrics);
  add_evaluation(program, columns, &count, "average's test",
                 results->average_test_losses, results->average_test_metrics);
  add_count(program, columns, &count, "skipped statistics",
            results->skipped_statistics);
  add_count(program, columns, &count, "retried inverses",
            results->retried_inverses);
  add_count(program, columns, &count, "kept inverses", results->kept_inverses);
  for (int i = 0; i < count; ++i) {
    char buffer[CELL_BYTES];
    bool is_result = columns[i].kind != COPY && columns[i].kind != EXACT &&
                     columns[i].kind != OPTIMIZER;
    columns[i].live = is_result ? results->live : NULL;
    columns[i].width = (int)strlen(columns[i].name);
    for (int64_t copy = 0; copy < program->copies; ++copy) {
      int width = (int)strlen(cell_text(program, &columns[i], copy, buffer));
      if (width > columns[i].width)
        columns[i].width = width;
    }
  }
  return count;
}

/// Prints a copy's line or, with copy -1, the names of the columns.
static void print_line(FILE *file, const hfta_program *program,
                       const column *columns, int count, int64_t copy) {
  char buffer[CELL_BYTES];
  for (int i = 0; i < count; ++i)
    fprintf(file, "%*s%s", i + 1 == count ? 0 : -columns[i].width - 2,
            copy < 0 ? columns[i].name
                     : cell_text(program, &columns[i], copy, buffer),
            i + 1 == count ? "\n" : "");
}

/// Prints the table on a terminal, of at most `most` copies in their order.
static void print_ranked(FILE *file, const hfta_program *program,
                         const hfta_results *results, const column *columns,
                         int count, int64_t most) {
  hfta_ranking ranking = hfta_rank_by(
      program, results->validation_losses, results->validation_metrics,
      results->test_losses, results->test_metrics);
  ranking.live = results->live;
  if (!ranking.losses)
    ranking.losses = results->train_losses;
  int64_t *order = calloc((size_t)program->copies, sizeof(*order));
  if (!order)
    return;
  int64_t scored = hfta_rank_copies(program, &ranking, order);
  hfta_terminal terminal = hfta_terminal_of(fileno(file));
  fprintf(file, "%*s", HFTA_MARK_WIDTH, "");
  print_line(file, program, columns, count, -1);
  for (int64_t i = 0; i < program->copies && i < most; ++i) {
    hfta_line mark;
    hfta_line_begin(&mark, &terminal, HFTA_MARK_WIDTH);
    hfta_line_mark(&mark, &ranking, order[i], i == 0 && scored > 1);
    fputs(mark.text, file);
    print_line(file, program, columns, count, order[i]);
  }
  if (program->copies > most)
    fprintf(file, "%*s... and %lld more; a file or a pipe gets all\n",
            HFTA_MARK_WIDTH, "", (long long)(program->copies - most));
  free(order);
}

/// Returns whether a person looks at what is written to a file. A launcher of
/// ranks gives them terminals, but what it does with these isn't known.
static bool is_seen(FILE *file) {
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  return isatty(fileno(file)) && !launcher.is_found;
}

void hfta_print_results(FILE *file, const hfta_program *program,
                        const hfta_results *results) {
  column columns[MAX_COLUMNS];
  int count = make_columns(program, results, columns);
  bool has_results = results->train_losses || results->validation_losses ||
                     results->test_losses;
  if (has_results && is_seen(file)) {
    int rows, width;
    hfta_terminal_size(fileno(file), &rows, &width);
    // The heading, the last line and the prompt need a row each.
    int64_t most = rows - 4 < LEAST_RANKED ? LEAST_RANKED : rows - 4;
    print_ranked(file, program, results, columns, count, most);
    return;
  }
  for (int64_t copy = -1; copy < program->copies; ++copy)
    print_line(file, program, columns, count, copy);
}

/// Prints the counts of a copy, in columns of equal width.
static void print_matrix(FILE *file, const double *counts, int64_t classes) {
  char buffer[CELL_BYTES];
  int width = 1;
  for (int64_t i = 0; i < classes * classes; ++i) {
    int own = snprintf(buffer, sizeof(buffer), "%.6g", counts[i]);
    width = own > width ? own : width;
  }
  for (int64_t row = 0; row < classes; ++row)
    for (int64_t column = 0; column < classes; ++column)
      fprintf(file, "%s%*.6g%s", column == 0 ? "" : " ", width,
              counts[row * classes + column],
              column + 1 == classes ? "\n" : "");
}

void hfta_print_matrices(FILE *file, const hfta_program *program,
                         const char *data, const double *metrics,
                         const bool *live) {
  for (uint32_t i = 0; i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    const double *counts = hfta_program_metric_matrix(program, metrics, i);
    for (int64_t copy = 0; counts && copy < program->copies; ++copy) {
      if (live && !live[copy])
        continue;
      fprintf(file, "\n%s %s of copy %lld: rows are labels, columns guesses\n",
              data, metric->name, (long long)copy);
      print_matrix(file, counts + copy * metric->classes * metric->classes,
                   metric->classes);
    }
  }
}
