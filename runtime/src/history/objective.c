//===- objective.c - The numbers by which runs are compared ---------------===//

#include "history/objective.h"

#include "program/metric_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), size = strlen(end);
  return length >= size && strcmp(text + length - size, end) == 0;
}

/// Returns whether smaller values of a series are better, by its name.
static bool is_error_name(const char *name) {
  static const char *const ends[] = {"loss", "_mse", "_mae", "perplexity",
                                     "error"};
  for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); ++i)
    if (ends_with(name, ends[i]))
      return true;
  return strstr(name, "loss_") != NULL;
}

static const hfta_program *find_program(const hfta_history *self,
                                        const hfta_program *const *programs,
                                        int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (strcmp(programs[i]->name, self->job) == 0)
      return programs[i];
  return NULL;
}

/// Finds the series of a metric of a program.
static hfta_objective find_metric(const hfta_rows *rows,
                                  const hfta_program *program, const char *data,
                                  uint32_t index) {
  char name[256];
  const hfta_metric *metric = &program->metrics[index];
  snprintf(name, sizeof(name), "%s_%.200s", data, metric->name);
  return (hfta_objective){hfta_find_series(rows, name),
                          metric->direction == HFTA_MAXIMIZE};
}

static hfta_objective find_of_program(const hfta_rows *rows,
                                      const hfta_program *program) {
  hfta_objective found = {NULL, false};
  const hfta_validation *validation = &program->validation;
  if (hfta_find_series(rows, "validation_loss")) {
    if (validation->by_metric > 0)
      found =
          find_metric(rows, program, "validation", validation->by_metric - 1);
    if (!found.series)
      found.series = hfta_find_series(rows, "validation_loss");
    return found;
  }
  for (uint32_t i = 0; i < program->metric_count && !found.series; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i]))
      found = find_metric(rows, program, "eval", i);
  return found;
}

/// Finds the first series whose name begins so; metrics come before losses.
static const hfta_series *find_by_name(const hfta_rows *rows,
                                       const char *prefix) {
  const hfta_series *loss = NULL;
  for (int64_t i = 0; i < rows->series_count; ++i) {
    const hfta_series *series = &rows->series[i];
    if (strncmp(series->name, prefix, strlen(prefix)) != 0)
      continue;
    if (!strstr(series->name, "_loss"))
      return series;
    loss = loss ? loss : series;
  }
  return loss;
}

hfta_objective hfta_find_objective(const hfta_history *self,
                                   const hfta_program *const *programs,
                                   int64_t count) {
  const hfta_rows *rows = &self->rows[HFTA_EPOCH_ROWS];
  const hfta_program *program = find_program(self, programs, count);
  hfta_objective found = {NULL, false};
  if (self->objective) {
    found.series = hfta_find_series(rows, self->objective);
    found.is_maximized = program
                             ? program->validation.direction == HFTA_MAXIMIZE
                             : !is_error_name(self->objective);
    return found;
  }
  if (program)
    found = find_of_program(rows, program);
  static const char *const prefixes[] = {"validation_", "eval_", "train_loss"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && !found.series;
       ++i) {
    found.series = find_by_name(rows, prefixes[i]);
    found.is_maximized = found.series && !is_error_name(found.series->name);
  }
  return found;
}

double hfta_last_value(const hfta_history *self, const hfta_series *series,
                       int64_t run, int64_t *epoch) {
  const hfta_rows *rows = &self->rows[HFTA_EPOCH_ROWS];
  int64_t last = 0;
  double sum = 0;
  int64_t count = 0;
  for (int64_t row = 0; series && row < rows->count; ++row) {
    double value = hfta_series_at(self, series, row, run);
    if (hfta_is_missing(value) || rows->epochs[row] < last)
      continue;
    if (rows->epochs[row] > last) {
      last = rows->epochs[row];
      sum = 0;
      count = 0;
    }
    sum += value;
    ++count;
  }
  if (epoch)
    *epoch = last;
  return count > 0 ? sum / (double)count : hfta_missing();
}

bool hfta_is_better(const hfta_objective *objective, double value,
                    double other) {
  if (!isfinite(value))
    return false;
  if (!isfinite(other))
    return true;
  return objective->is_maximized ? value > other : value < other;
}
