//===- read_log.c - The log of a training ---------------------------------===//

#include "history/history_impl.h"

#include <stdio.h>
#include <string.h>

/// The longest name of a series.
enum { NAME_BYTES = 256 };

/// Returns the job that a line belongs to; NULL if no start event came before.
static hfta_history *find_job(const hfta_history_reader *reader,
                              const char *job) {
  for (int64_t i = reader->out->count - 1; i >= 0; --i) {
    hfta_history *one = &reader->out->list[i];
    // Other files' jobs may have the same names.
    if (strcmp(one->path, reader->path) == 0 &&
        (!job || strcmp(one->job, job) == 0))
      return one;
  }
  return NULL;
}

/// Stores a list of numbers, one per run, as a row of a series. A list of
/// anything else, such as matrices, is left out.
static hfta_status take_list(hfta_history_reader *reader, hfta_history *self,
                             hfta_rows_kind kind, int64_t row, const char *name,
                             const hfta_json_value *list) {
  double number;
  for (const hfta_json_value *at = list->first; at; at = at->next)
    if (at->kind != HFTA_JSON_KIND_NULL && !hfta_json_take_number(at, &number))
      return HFTA_OK;
  if (list->count != self->runs) {
    char message[160];
    snprintf(message, sizeof(message),
             "'%.60s' has %lld numbers, but the job has %lld copies", name,
             (long long)list->count, (long long)self->runs);
    return hfta_history_fail(reader, message);
  }
  double *values = hfta_row_values(self, kind, row, name);
  if (!values)
    return hfta_history_out_of_memory(reader);
  int64_t run = 0;
  for (const hfta_json_value *at = list->first; at; at = at->next, ++run)
    if (at->kind != HFTA_JSON_KIND_NULL)
      hfta_json_take_number(at, &values[run]);
  return HFTA_OK;
}

/// Stores all lists of a line, or of an object in it, whose names get a prefix.
static hfta_status take_lists(hfta_history_reader *reader, hfta_history *self,
                              hfta_rows_kind kind, int64_t row,
                              const char *prefix, const hfta_json_value *line) {
  hfta_status status = HFTA_OK;
  for (const hfta_json_value *at = line->first; at && status == HFTA_OK;
       at = at->next) {
    char name[NAME_BYTES];
    snprintf(name, sizeof(name), "%s%s", prefix, at->key);
    if (at->kind == HFTA_JSON_KIND_ARRAY)
      status = take_list(reader, self, kind, row, name, at);
    else if (at->kind == HFTA_JSON_KIND_OBJECT && *prefix == '\0')
      status = take_lists(reader, self, kind, row, "scheduled_", at);
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static hfta_status take_settings(hfta_history_reader *reader,
                                 hfta_history *self,
                                 const hfta_json_value *line) {
  const hfta_json_value *optimizers = hfta_json_get(line, "optimizers");
  const hfta_json_value *all = hfta_json_get(line, "hyper_parameters");
  const hfta_json_value *first = all ? all->first : NULL;
  for (const hfta_json_value *at = optimizers ? optimizers : first; at;
       at = at == optimizers ? first : at->next) {
    if (at->kind != HFTA_JSON_KIND_ARRAY || at->count != self->runs)
      return hfta_history_fail(
          reader, "a hyper-parameter doesn't have a value for each copy");
    hfta_run_setting *setting =
        hfta_history_setting(self, at == optimizers ? "optimizer" : at->key);
    if (!setting)
      return hfta_history_out_of_memory(reader);
    int64_t run = 0;
    for (const hfta_json_value *one = at->first; one; one = one->next, ++run)
      if (!hfta_history_set(setting, run, one))
        return hfta_history_out_of_memory(reader);
  }
  return HFTA_OK;
}

/// Removes rows of steps that a run does again.
static void drop_rows(hfta_rows *rows, int64_t steps_done) {
  while (rows->count > 0 && rows->steps[rows->count - 1] > steps_done)
    --rows->count;
}

static hfta_status read_start(hfta_history_reader *reader,
                              const hfta_json_value *line) {
  const char *job = hfta_json_get_text(line, "job");
  const char *name = hfta_json_get_text(line, "name");
  int64_t copies = hfta_json_get_integer(line, "copies", 0);
  if ((!job && !name) || copies < 1 || copies > 1 << 20)
    return hfta_history_fail(
        reader, "a start event needs 'name' and a number of 'copies'");
  hfta_history *self = find_job(reader, job ? job : name);
  int64_t done = hfta_json_get_integer(line, "steps_done", 0);
  if (self && self->runs != copies)
    return hfta_history_fail(
        reader, "a run has another number of copies than the one before");
  if (!self)
    self = hfta_add_history(reader, job ? job : name);
  if (!self || !hfta_history_extend(self, copies))
    return hfta_history_out_of_memory(reader);
  self->steps_per_epoch = hfta_json_get_integer(line, "steps_per_epoch", 0);
  self->total_steps = hfta_json_get_integer(line, "total_steps", 0);
  drop_rows(&self->rows[HFTA_STEP_ROWS], done);
  drop_rows(&self->rows[HFTA_EPOCH_ROWS], done);
  return take_settings(reader, self, line);
}

/// Returns the step at whose end an epoch ends.
static int64_t end_of_epoch(const hfta_history *self, int64_t epoch) {
  int64_t step =
      self->steps_per_epoch > 0 ? epoch * self->steps_per_epoch : epoch;
  return self->total_steps > 0 && step > self->total_steps ? self->total_steps
                                                           : step;
}

static hfta_status read_row(hfta_history_reader *reader, hfta_history *self,
                            hfta_rows_kind kind, const hfta_json_value *line) {
  int64_t epoch = hfta_json_get_integer(line, "epoch", 0);
  int64_t step = kind == HFTA_STEP_ROWS ? hfta_json_get_integer(line, "step", 0)
                                        : end_of_epoch(self, epoch);
  if (step < 1 || epoch < 1)
    return hfta_history_fail(reader, "the number of the step or epoch is "
                                     "missing, or isn't at least 1");
  int64_t row = hfta_add_row(self, kind, step, epoch, 0);
  if (row < 0)
    return hfta_history_out_of_memory(reader);
  const hfta_json_value *seconds = hfta_json_get(line, "seconds");
  double number;
  if (seconds && hfta_json_take_number(seconds, &number))
    self->rows[kind].seconds[row] = number;
  return take_lists(reader, self, kind, row, "", line);
}

/// Adds the counts of a preconditioner to the row of their step.
static hfta_status read_curvature(hfta_history_reader *reader,
                                  hfta_history *self,
                                  const hfta_json_value *line) {
  const hfta_rows *rows = &self->rows[HFTA_STEP_ROWS];
  int64_t step = hfta_json_get_integer(line, "step", 0);
  if (rows->count == 0 || rows->steps[rows->count - 1] != step)
    return HFTA_OK;
  return take_lists(reader, self, HFTA_STEP_ROWS, rows->count - 1, "", line);
}

hfta_status hfta_read_log_line(hfta_history_reader *reader,
                               const hfta_json_value *line) {
  const char *event = hfta_json_get_text(line, "event");
  if (strcmp(event, "start") == 0)
    return read_start(reader, line);
  bool is_step = strcmp(event, "step") == 0;
  bool is_curvature = strcmp(event, "curvature") == 0;
  // Later versions may have other events.
  if (!is_step && !is_curvature && strcmp(event, "epoch") != 0)
    return HFTA_OK;
  hfta_history *self = find_job(reader, hfta_json_get_text(line, "job"));
  if (!self)
    return hfta_history_fail(reader, "no start event comes before it");
  if (is_curvature)
    return read_curvature(reader, self, line);
  return read_row(reader, self, is_step ? HFTA_STEP_ROWS : HFTA_EPOCH_ROWS,
                  line);
}
