//===- history.h - What a log tells about trainings ---------------*- C -*-===//
//
// Logs of trainings (training/log.h) and journals of searches
// (tuning/journal.h) in memory, in one form: *runs*, which are the copies of a
// job or the trials of a search, have settings and series of numbers. Nothing
// else than the file is needed, so that a program reads other programs' logs
// too.
//
// Threads: a history is read by any number of threads.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_HISTORY_HISTORY_H
#define HFTA_SRC_HISTORY_HISTORY_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

/// A kind of numbers, such as "loss".
typedef struct hfta_series {
  char *name; ///< as in the log; a trial's metric has the metric's name:
              ///< "validation_accuracy"
  /// One value for each run in each row, row after row. See hfta_is_missing.
  double *values;
} hfta_series;

/// Rows of numbers, in the order of the log.
typedef struct hfta_rows {
  int64_t count, capacity;
  int64_t *steps;  ///< the step after which a row was measured, from 1
  int64_t *epochs; ///< its epoch, from 1
  int64_t *folds;  ///< the fold of a cross-validation, from 0
  double *seconds; ///< how long an epoch took; 0: not known
  hfta_series *series;
  int64_t series_count;
} hfta_rows;

/// The kinds of rows.
typedef enum hfta_rows_kind { HFTA_STEP_ROWS, HFTA_EPOCH_ROWS } hfta_rows_kind;

/// A hyper-parameter. A run has a number or a text.
typedef struct hfta_run_setting {
  char *name;
  double *numbers; ///< one per run; missing if it has a text, or none
  char **texts;    ///< one per run; NULL if it has a number, or none
} hfta_run_setting;

/// A search's verdict about a trial, or the donor that it goes on from.
typedef struct hfta_run_event {
  int64_t run, epoch;
  char *verdict; ///< "goes on", "dropped", "complete", ...; "cloned"
  double score;  ///< missing if there is none
  int64_t rank, compared, kept; ///< -1: not known
  int64_t donor; ///< the trial that a cloned one goes on from; else -1
} hfta_run_event;

/// Something that a search's journal begins with.
typedef struct hfta_run_fact {
  char *name, *text;
} hfta_run_fact;

typedef struct hfta_history {
  char *path; ///< the file's
  char *job;  ///< the job's name
  bool is_search;
  int64_t runs;
  int64_t steps_per_epoch, total_steps; ///< 0: not known
  /// When the training began, in seconds since 1970: the file was last written
  /// at its end, and its epochs say how long they took.
  double begin;
  char *objective;   ///< the series by which runs are compared; NULL: not known
  hfta_rows rows[2]; ///< by hfta_rows_kind
  hfta_run_setting *settings;
  int64_t setting_count;
  hfta_run_event *events;
  int64_t event_count;
  hfta_run_fact *facts;
  int64_t fact_count;
} hfta_history;

/// The jobs of a file.
typedef struct hfta_histories {
  hfta_history *list;
  int64_t count;
} hfta_histories;

/// Returns the value of what isn't known, a NaN that no computation gives, and
/// whether a value is this one.
double hfta_missing(void);
bool hfta_is_missing(double value);

/// Reads a log, or the journal `search.jsonl` of a checkpoint folder or of the
/// folders of jobs in it, and appends its jobs to `out`, which begins as all
/// zeros. A last line without a line break is ignored, as it is being written.
/// Rows of steps that were done again replace the earlier ones.
/// HFTA_INVALID_INPUT names the file, and the line that is wrong. `out` must be
/// released by hfta_histories_free, also after a failure.
hfta_status hfta_histories_read(const char *path, hfta_histories *out,
                                hfta_error *error);

void hfta_histories_free(hfta_histories *self);

/// Releases jobs whose list belongs to others.
void hfta_histories_drop(const hfta_histories *self);

/// Returns the series of this name; NULL if there is none.
const hfta_series *hfta_find_series(const hfta_rows *rows, const char *name);

/// Returns a value of a series.
double hfta_series_at(const hfta_history *self, const hfta_series *series,
                      int64_t row, int64_t run);

/// Returns whether runs differ in a setting.
bool hfta_setting_differs(const hfta_history *self,
                          const hfta_run_setting *setting);

#endif // HFTA_SRC_HISTORY_HISTORY_H
