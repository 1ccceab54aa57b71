//===- read_journal.c - The journal of a search ---------------------------===//

#include "history/history_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The most trials of a search.
enum { MOST_TRIALS = 1 << 20 };

static hfta_status read_facts(hfta_history_reader *reader,
                              const hfta_json_value *line) {
  const char *job = hfta_json_get_text(line, "job");
  hfta_history *self = hfta_add_history(reader, job ? job : "search");
  if (!self)
    return hfta_history_out_of_memory(reader);
  self->is_search = true;
  for (const hfta_json_value *at = line->first; at; at = at->next)
    if (at->kind == HFTA_JSON_KIND_STRING && strcmp(at->key, "event") != 0 &&
        !hfta_history_add_fact(self, at->key, at->text))
      return hfta_history_out_of_memory(reader);
  const char *steps = hfta_json_get_text(line, "steps per epoch");
  const char *epochs = hfta_json_get_text(line, "epochs");
  const char *metric = hfta_json_get_text(line, "metric");
  self->steps_per_epoch = steps ? strtoll(steps, NULL, 10) : 0;
  self->total_steps =
      epochs ? strtoll(epochs, NULL, 10) * self->steps_per_epoch : 0;
  char objective[256];
  snprintf(objective, sizeof(objective), "validation_%.200s",
           metric ? metric : "loss");
  self->objective = strdup(objective);
  return self->objective ? HFTA_OK : hfta_history_out_of_memory(reader);
}

/// Returns the number of a line's trial, for which there is room then; -1 after
/// a failure.
static int64_t take_trial(hfta_history_reader *reader, hfta_history *self,
                          const hfta_json_value *line, hfta_status *status) {
  int64_t trial = hfta_json_get_integer(line, "trial", -1);
  if (trial < 0 || trial >= MOST_TRIALS) {
    *status = hfta_history_fail(reader, "the number of the trial is missing");
    return -1;
  }
  if (hfta_history_extend(self, trial + 1))
    return trial;
  *status = hfta_history_out_of_memory(reader);
  return -1;
}

static hfta_status take_settings(hfta_history_reader *reader,
                                 hfta_history *self, int64_t trial,
                                 const hfta_json_value *line) {
  const hfta_json_value *all = hfta_json_get(line, "settings");
  for (const hfta_json_value *at = all ? all->first : NULL; at; at = at->next) {
    hfta_run_setting *setting =
        at->key ? hfta_history_setting(self, at->key) : NULL;
    if (!setting || !hfta_history_set(setting, trial, at))
      return hfta_history_out_of_memory(reader);
  }
  return HFTA_OK;
}

static hfta_status read_trial(hfta_history_reader *reader, hfta_history *self,
                              const hfta_json_value *line) {
  hfta_status status = HFTA_OK;
  int64_t trial = take_trial(reader, self, line, &status);
  return trial < 0 ? status : take_settings(reader, self, trial, line);
}

/// Reads what has been decided about a trial, or with which trial's weights it
/// goes on.
static hfta_status read_event(hfta_history_reader *reader, hfta_history *self,
                              const hfta_json_value *line, const char *event) {
  hfta_status status = HFTA_OK;
  int64_t trial = take_trial(reader, self, line, &status);
  if (trial < 0)
    return status;
  const char *verdict = hfta_json_get_text(line, "verdict");
  const hfta_json_value *score = hfta_json_get(line, "score");
  hfta_run_event added = {.run = trial,
                          .epoch = hfta_json_get_integer(line, "epoch", 0),
                          .score = hfta_missing(),
                          .rank = hfta_json_get_integer(line, "rank", -1),
                          .compared =
                              hfta_json_get_integer(line, "compared", -1),
                          .kept = hfta_json_get_integer(line, "kept", -1),
                          .donor = hfta_json_get_integer(line, "donor", -1)};
  if (score)
    hfta_json_take_number(score, &added.score);
  if (!hfta_history_add_event(self, &added, verdict ? verdict : event))
    return hfta_history_out_of_memory(reader);
  return take_settings(reader, self, trial, line);
}

/// Returns the row of an epoch of a fold, which is added if it is new.
static int64_t find_row(hfta_history *self, int64_t epoch, int64_t fold) {
  const hfta_rows *rows = &self->rows[HFTA_EPOCH_ROWS];
  for (int64_t row = rows->count - 1; row >= 0; --row)
    if (rows->epochs[row] == epoch && rows->folds[row] == fold)
      return row;
  int64_t steps = self->steps_per_epoch > 0 ? self->steps_per_epoch : 1;
  return hfta_add_row(self, HFTA_EPOCH_ROWS, epoch * steps, epoch, fold);
}

/// Stores the numbers of an evaluated line's list at the trials of the line.
static hfta_status take_numbers(hfta_history_reader *reader, hfta_history *self,
                                int64_t row, const hfta_json_value *trials,
                                const hfta_json_value *list) {
  const char *name =
      strcmp(list->key, "validation_metric") == 0 ? self->objective : list->key;
  if (list->count != trials->count)
    return hfta_history_fail(reader, "lists of different lengths");
  const hfta_json_value *trial = trials->first;
  for (const hfta_json_value *at = list->first; at;
       at = at->next, trial = trial->next) {
    double *values = hfta_row_values(self, HFTA_EPOCH_ROWS, row, name);
    if (!values)
      return hfta_history_out_of_memory(reader);
    hfta_json_take_number(at, &values[(int64_t)trial->number]);
  }
  return HFTA_OK;
}

static hfta_status read_evaluated(hfta_history_reader *reader,
                                  hfta_history *self,
                                  const hfta_json_value *line) {
  int64_t epoch = hfta_json_get_integer(line, "epoch", 0);
  const hfta_json_value *trials = hfta_json_get(line, "trials");
  if (epoch < 1 || !trials || trials->kind != HFTA_JSON_KIND_ARRAY)
    return hfta_history_fail(reader, "the epoch or the trials are missing");
  for (const hfta_json_value *at = trials->first; at; at = at->next) {
    if (at->kind != HFTA_JSON_KIND_NUMBER || at->number < 0 ||
        at->number >= MOST_TRIALS || at->number != (double)(int64_t)at->number)
      return hfta_history_fail(reader, "a trial's number is wrong");
    if (!hfta_history_extend(self, (int64_t)at->number + 1))
      return hfta_history_out_of_memory(reader);
  }
  int64_t row = find_row(self, epoch, hfta_json_get_integer(line, "fold", 0));
  if (row < 0)
    return hfta_history_out_of_memory(reader);
  hfta_status status = HFTA_OK;
  for (const hfta_json_value *at = line->first; at && status == HFTA_OK;
       at = at->next)
    if (at->kind == HFTA_JSON_KIND_ARRAY && at != trials)
      status = take_numbers(reader, self, row, trials, at);
  return status;
}

hfta_status hfta_read_journal_line(hfta_history_reader *reader,
                                   const hfta_json_value *line,
                                   bool *is_known) {
  const char *event = hfta_json_get_text(line, "event");
  *is_known = true;
  if (strcmp(event, "search") == 0)
    return read_facts(reader, line);
  hfta_histories *out = reader->out;
  hfta_history *self = out->count > 0 ? &out->list[out->count - 1] : NULL;
  *is_known = self && self->is_search && strcmp(self->path, reader->path) == 0;
  if (!*is_known)
    return HFTA_OK;
  if (strcmp(event, "trial") == 0)
    return read_trial(reader, self, line);
  if (strcmp(event, "decided") == 0 || strcmp(event, "cloned") == 0)
    return read_event(reader, self, line, event);
  if (strcmp(event, "evaluated") == 0)
    return read_evaluated(reader, self, line);
  return HFTA_OK;
}
