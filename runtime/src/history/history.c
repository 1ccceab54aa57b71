//===- history.c - What a log tells about trainings -----------------------===//

#include "history/history_impl.h"

#include "system/extend.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The bits of a missing value.
static const uint64_t MISSING = 0x7FF8DEAD00000000;

double hfta_missing(void) {
  double value;
  memcpy(&value, &MISSING, sizeof(value));
  return value;
}

bool hfta_is_missing(double value) {
  return memcmp(&value, &MISSING, sizeof(value)) == 0;
}

static void fill_missing(double *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = hfta_missing();
}

hfta_status hfta_history_fail(const hfta_history_reader *reader,
                              const char *message) {
  return hfta_fail(reader->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRId64 ": %s", reader->path, reader->line,
                   message);
}

hfta_status hfta_history_out_of_memory(const hfta_history_reader *reader) {
  return hfta_fail(reader->error, HFTA_UNSUPPORTED,
                   "not enough memory to read '%s'", reader->path);
}

//===----------------------------------------------------------------------===//
// Jobs and runs
//===----------------------------------------------------------------------===//

hfta_history *hfta_add_history(hfta_history_reader *reader, const char *job) {
  hfta_histories *out = reader->out;
  hfta_history *list =
      hfta_extend(out->list, out->count, out->count + 1, sizeof(*list));
  if (!list)
    return NULL;
  out->list = list;
  hfta_history *added = &list[out->count++];
  added->path = strdup(reader->path);
  added->job = strdup(job);
  return added->path && added->job ? added : NULL;
}

/// Makes rows of `before` values ones of `after` values.
static double *widen(double *values, int64_t rows, int64_t capacity,
                     int64_t before, int64_t after) {
  double *more = malloc((size_t)(capacity * after + 1) * sizeof(*more));
  if (!more)
    return NULL;
  fill_missing(more, capacity * after);
  for (int64_t row = 0; row < rows; ++row)
    memcpy(more + row * after, values + row * before,
           (size_t)before * sizeof(*more));
  free(values);
  return more;
}

static bool extend_rows(hfta_rows *rows, int64_t before, int64_t after) {
  for (int64_t i = 0; i < rows->series_count; ++i) {
    double *values = widen(rows->series[i].values, rows->count, rows->capacity,
                           before, after);
    if (!values)
      return false;
    rows->series[i].values = values;
  }
  return true;
}

bool hfta_history_extend(hfta_history *self, int64_t runs) {
  if (runs <= self->runs)
    return true;
  for (int64_t i = 0; i < self->setting_count; ++i) {
    hfta_run_setting *setting = &self->settings[i];
    double *numbers =
        hfta_extend(setting->numbers, self->runs, runs, sizeof(*numbers));
    if (numbers)
      setting->numbers = numbers;
    char **texts =
        hfta_extend(setting->texts, self->runs, runs, sizeof(*texts));
    if (texts)
      setting->texts = texts;
    if (!numbers || !texts)
      return false;
    fill_missing(numbers + self->runs, runs - self->runs);
  }
  for (int kind = 0; kind < 2; ++kind)
    if (!extend_rows(&self->rows[kind], self->runs, runs))
      return false;
  self->runs = runs;
  return true;
}

hfta_run_setting *hfta_history_setting(hfta_history *self, const char *name) {
  for (int64_t i = 0; i < self->setting_count; ++i)
    if (strcmp(self->settings[i].name, name) == 0)
      return &self->settings[i];
  hfta_run_setting *settings =
      hfta_extend(self->settings, self->setting_count, self->setting_count + 1,
                  sizeof(*settings));
  if (!settings)
    return NULL;
  self->settings = settings;
  hfta_run_setting *added = &settings[self->setting_count++];
  size_t runs = (size_t)self->runs;
  added->name = strdup(name);
  added->numbers = malloc((runs + 1) * sizeof(*added->numbers));
  added->texts = calloc(runs + 1, sizeof(*added->texts));
  if (added->numbers)
    fill_missing(added->numbers, self->runs);
  return added->name && added->numbers && added->texts ? added : NULL;
}

bool hfta_history_set(hfta_run_setting *setting, int64_t run,
                      const hfta_json_value *value) {
  free(setting->texts[run]);
  setting->texts[run] = NULL;
  setting->numbers[run] = hfta_missing();
  if (hfta_json_take_number(value, &setting->numbers[run]))
    return true;
  setting->texts[run] =
      strdup(value->kind == HFTA_JSON_KIND_STRING    ? value->text
             : value->kind != HFTA_JSON_KIND_BOOLEAN ? ""
             : value->number != 0                    ? "true"
                                                     : "false");
  return setting->texts[run] != NULL;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Makes room for more rows.
static bool reserve(hfta_history *self, hfta_rows *rows, int64_t capacity) {
  int64_t **integers[] = {&rows->steps, &rows->epochs, &rows->folds};
  for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); ++i) {
    int64_t *more =
        hfta_extend(*integers[i], rows->capacity, capacity, sizeof(*more));
    if (!more)
      return false;
    *integers[i] = more;
  }
  double *seconds =
      hfta_extend(rows->seconds, rows->capacity, capacity, sizeof(*seconds));
  if (!seconds)
    return false;
  rows->seconds = seconds;
  for (int64_t i = 0; i < rows->series_count; ++i) {
    double *values =
        hfta_extend(rows->series[i].values, rows->capacity * self->runs,
                    capacity * self->runs, sizeof(*values));
    if (!values)
      return false;
    rows->series[i].values = values;
    fill_missing(values + rows->capacity * self->runs,
                 (capacity - rows->capacity) * self->runs);
  }
  rows->capacity = capacity;
  return true;
}

int64_t hfta_add_row(hfta_history *self, hfta_rows_kind kind, int64_t step,
                     int64_t epoch, int64_t fold) {
  hfta_rows *rows = &self->rows[kind];
  // A run's steps that were done again replace the earlier ones.
  while (!self->is_search && rows->count > 0 &&
         rows->steps[rows->count - 1] >= step) {
    --rows->count;
    for (int64_t i = 0; i < rows->series_count; ++i)
      fill_missing(rows->series[i].values + rows->count * self->runs,
                   self->runs);
  }
  if (rows->count == rows->capacity &&
      !reserve(self, rows, rows->capacity == 0 ? 64 : 2 * rows->capacity))
    return -1;
  int64_t row = rows->count++;
  rows->steps[row] = step;
  rows->epochs[row] = epoch;
  rows->folds[row] = fold;
  rows->seconds[row] = 0;
  return row;
}

const hfta_series *hfta_find_series(const hfta_rows *rows, const char *name) {
  for (int64_t i = 0; i < rows->series_count; ++i)
    if (strcmp(rows->series[i].name, name) == 0)
      return &rows->series[i];
  return NULL;
}

/// Adds a series of missing values.
static hfta_series *add_series(hfta_history *self, hfta_rows *rows,
                               const char *name) {
  hfta_series *series = hfta_extend(rows->series, rows->series_count,
                                    rows->series_count + 1, sizeof(*series));
  if (!series)
    return NULL;
  rows->series = series;
  hfta_series *added = &series[rows->series_count++];
  int64_t values = rows->capacity * self->runs;
  added->name = strdup(name);
  added->values = malloc((size_t)(values + 1) * sizeof(*added->values));
  if (added->values)
    fill_missing(added->values, values);
  return added->name && added->values ? added : NULL;
}

double *hfta_row_values(hfta_history *self, hfta_rows_kind kind, int64_t row,
                        const char *name) {
  hfta_rows *rows = &self->rows[kind];
  for (int64_t i = 0; i < rows->series_count; ++i)
    if (strcmp(rows->series[i].name, name) == 0)
      return rows->series[i].values + row * self->runs;
  hfta_series *added = add_series(self, rows, name);
  return added ? added->values + row * self->runs : NULL;
}

double hfta_series_at(const hfta_history *self, const hfta_series *series,
                      int64_t row, int64_t run) {
  return series->values[row * self->runs + run];
}

bool hfta_setting_differs(const hfta_history *self,
                          const hfta_run_setting *setting) {
  for (int64_t run = 1; run < self->runs; ++run) {
    const char *mine = setting->texts[run], *first = setting->texts[0];
    if ((mine && first) ? strcmp(mine, first) != 0 : mine != first)
      return true;
    if (memcmp(&setting->numbers[run], &setting->numbers[0], sizeof(double)) !=
        0)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

bool hfta_history_add_event(hfta_history *self, const hfta_run_event *event,
                            const char *verdict) {
  hfta_run_event *events = hfta_extend(self->events, self->event_count,
                                       self->event_count + 1, sizeof(*events));
  if (!events)
    return false;
  self->events = events;
  events[self->event_count] = *event;
  char *copy = strdup(verdict);
  events[self->event_count++].verdict = copy;
  return copy != NULL;
}

bool hfta_history_add_fact(hfta_history *self, const char *name,
                           const char *text) {
  hfta_run_fact *facts = hfta_extend(self->facts, self->fact_count,
                                     self->fact_count + 1, sizeof(*facts));
  if (!facts)
    return false;
  self->facts = facts;
  hfta_run_fact *added = &facts[self->fact_count++];
  added->name = strdup(name);
  added->text = strdup(text);
  return added->name && added->text;
}

//===----------------------------------------------------------------------===//
// Release
//===----------------------------------------------------------------------===//

static void free_rows(hfta_rows *rows) {
  for (int64_t i = 0; i < rows->series_count; ++i) {
    free(rows->series[i].name);
    free(rows->series[i].values);
  }
  free(rows->series);
  free(rows->steps);
  free(rows->epochs);
  free(rows->folds);
  free(rows->seconds);
}

static void free_history(hfta_history *self) {
  for (int64_t i = 0; i < self->setting_count; ++i) {
    hfta_run_setting *setting = &self->settings[i];
    for (int64_t run = 0; setting->texts && run < self->runs; ++run)
      free(setting->texts[run]);
    free(setting->name);
    free(setting->numbers);
    free(setting->texts);
  }
  for (int64_t i = 0; i < self->event_count; ++i)
    free(self->events[i].verdict);
  for (int64_t i = 0; i < self->fact_count; ++i) {
    free(self->facts[i].name);
    free(self->facts[i].text);
  }
  free_rows(&self->rows[HFTA_STEP_ROWS]);
  free_rows(&self->rows[HFTA_EPOCH_ROWS]);
  free(self->settings);
  free(self->events);
  free(self->facts);
  free(self->objective);
  free(self->path);
  free(self->job);
}

void hfta_histories_drop(const hfta_histories *self) {
  for (int64_t i = 0; i < self->count; ++i)
    free_history(&self->list[i]);
}

void hfta_histories_free(hfta_histories *self) {
  hfta_histories_drop(self);
  free(self->list);
  *self = (hfta_histories){0};
}
