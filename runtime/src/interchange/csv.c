//===- csv.c - Histories as tables ----------------------------------------===//

#include "interchange/csv.h"

#include "hfta/json.h"

#include <string.h>

/// Writes a field, in quotes if it needs them.
static void put_text(FILE *file, const char *text) {
  if (text[strcspn(text, ",\"\r\n")] == '\0') {
    fputs(text, file);
    return;
  }
  fputc('"', file);
  for (; *text; ++text)
    fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, file);
  fputc('"', file);
}

static void put_number(FILE *file, double value) {
  char buffer[HFTA_NUMBER_TEXT_BYTES];
  if (!hfta_is_missing(value))
    fputs(hfta_number_text(value, HFTA_F64, buffer), file);
}

/// The kinds of columns, in their order in the table.
typedef enum column_kind { SETTING, STEP_SERIES, EPOCH_SERIES } column_kind;

static int64_t count_columns(const hfta_history *history, column_kind kind) {
  return kind == SETTING ? history->setting_count
                         : history->rows[kind == EPOCH_SERIES].series_count;
}

static const char *column_name(const hfta_history *history, column_kind kind,
                               int64_t index) {
  return kind == SETTING
             ? history->settings[index].name
             : history->rows[kind == EPOCH_SERIES].series[index].name;
}

/// Returns the column's index in a history; -1 if it has none of this name.
static int64_t find_column(const hfta_history *history, column_kind kind,
                           const char *name) {
  for (int64_t i = 0; i < count_columns(history, kind); ++i)
    if (strcmp(column_name(history, kind, i), name) == 0)
      return i;
  return -1;
}

/// Returns whether a column has occurred in an earlier history.
static bool has_occurred(const hfta_histories *histories, int64_t history,
                         column_kind kind, const char *name) {
  for (int64_t i = 0; i < history; ++i)
    if (find_column(&histories->list[i], kind, name) >= 0)
      return true;
  return false;
}

/// A line of the table.
typedef struct line {
  const hfta_history *history; ///< NULL: the heading
  hfta_rows_kind kind;
  int64_t row, run;
} line;

/// Writes a column's name. A series may be called like a hyper-parameter that
/// it begins with: the rate, or another number that follows a schedule.
static void put_name(FILE *file, const hfta_histories *histories,
                     column_kind kind, const char *name) {
  if (kind == SETTING ||
      !has_occurred(histories, histories->count, SETTING, name)) {
    put_text(file, name);
  } else if (strcmp(name, "lr") == 0) {
    fputs("learning_rate", file);
  } else {
    fputs("scheduled_", file);
    put_text(file, name);
  }
}

/// Writes a cell of a line.
static void put_cell(FILE *file, const line *self, column_kind kind,
                     const char *name) {
  int64_t index = find_column(self->history, kind, name);
  if (index < 0)
    return;
  if (kind == SETTING) {
    const hfta_run_setting *setting = &self->history->settings[index];
    if (setting->texts[self->run])
      put_text(file, setting->texts[self->run]);
    else
      put_number(file, setting->numbers[self->run]);
  } else if ((kind == EPOCH_SERIES) == (self->kind == HFTA_EPOCH_ROWS)) {
    put_number(file,
               hfta_series_at(self->history,
                              &self->history->rows[self->kind].series[index],
                              self->row, self->run));
  }
}

/// Writes the columns of hyper-parameters and series.
static void put_cells(FILE *file, const hfta_histories *histories,
                      const line *self) {
  for (column_kind kind = SETTING; kind <= EPOCH_SERIES; ++kind)
    for (int64_t i = 0; i < histories->count; ++i)
      for (int64_t j = 0; j < count_columns(&histories->list[i], kind); ++j) {
        const char *name = column_name(&histories->list[i], kind, j);
        if (has_occurred(histories, i, kind, name))
          continue;
        fputc(',', file);
        if (self->history)
          put_cell(file, self, kind, name);
        else
          put_name(file, histories, kind, name);
      }
  fputc('\n', file);
}

static bool has_values(const line *self) {
  const hfta_rows *rows = &self->history->rows[self->kind];
  for (int64_t i = 0; i < rows->series_count; ++i)
    if (!hfta_is_missing(hfta_series_at(self->history, &rows->series[i],
                                        self->row, self->run)))
      return true;
  return false;
}

static void put_history(FILE *file, const hfta_histories *histories,
                        const hfta_history *history) {
  for (int kind = 0; kind < 2; ++kind) {
    const hfta_rows *rows = &history->rows[kind];
    for (int64_t row = 0; row < rows->count; ++row)
      for (int64_t run = 0; run < history->runs; ++run) {
        line self = {history, (hfta_rows_kind)kind, row, run};
        if (!has_values(&self))
          continue;
        put_text(file, history->job);
        fprintf(file, ",%s,%lld,%lld,%lld,%lld",
                kind == HFTA_STEP_ROWS ? "step" : "epoch",
                (long long)rows->steps[row], (long long)rows->epochs[row],
                (long long)run, (long long)rows->folds[row]);
        put_cells(file, histories, &self);
      }
  }
}

void hfta_write_csv(FILE *file, const hfta_histories *histories) {
  fputs("job,event,step,epoch,run,fold", file);
  line heading = {0};
  put_cells(file, histories, &heading);
  for (int64_t i = 0; i < histories->count; ++i)
    put_history(file, histories, &histories->list[i]);
}
