//===- history_impl.h - How histories are built -------------------*- C -*-===//

#ifndef HFTA_SRC_HISTORY_HISTORY_IMPL_H
#define HFTA_SRC_HISTORY_HISTORY_IMPL_H

#include "history/history.h"
#include "text/json_tree.h"

/// A file that is being read.
typedef struct hfta_history_reader {
  const char *path;
  int64_t line; ///< the number of the current line, from 1
  hfta_histories *out;
  hfta_error *error;
} hfta_history_reader;

/// Fails with the place and a message.
hfta_status hfta_history_fail(const hfta_history_reader *reader,
                              const char *message);
hfta_status hfta_history_out_of_memory(const hfta_history_reader *reader);

/// Appends a job. Returns NULL if memory runs out.
hfta_history *hfta_add_history(hfta_history_reader *reader, const char *job);

/// Makes room for more runs; those that are new have missing values.
bool hfta_history_extend(hfta_history *self, int64_t runs);

/// Returns the setting of this name, which is added if it is new; NULL if
/// memory runs out.
hfta_run_setting *hfta_history_setting(hfta_history *self, const char *name);

/// Sets a run's setting to a JSON value.
bool hfta_history_set(hfta_run_setting *setting, int64_t run,
                      const hfta_json_value *value);

/// Adds a row of missing values, and returns its number; -1 if memory runs out.
int64_t hfta_add_row(hfta_history *self, hfta_rows_kind kind, int64_t step,
                     int64_t epoch, int64_t fold);

/// Returns the values of a series in a row, one per run, for a series that is
/// added if it is new; NULL if memory runs out.
double *hfta_row_values(hfta_history *self, hfta_rows_kind kind, int64_t row,
                        const char *name);

/// Adds an event, with a copy of the verdict.
bool hfta_history_add_event(hfta_history *self, const hfta_run_event *event,
                            const char *verdict);
bool hfta_history_add_fact(hfta_history *self, const char *name,
                           const char *text);

/// Reads a line of a training's log.
hfta_status hfta_read_log_line(hfta_history_reader *reader,
                               const hfta_json_value *line);

/// Reads a line of a search's journal. `*is_known` becomes false for a line
/// that is none.
hfta_status hfta_read_journal_line(hfta_history_reader *reader,
                                   const hfta_json_value *line, bool *is_known);

#endif // HFTA_SRC_HISTORY_HISTORY_IMPL_H
