//===- study_requests.c - Requests that change a study --------------------===//

#include "tuning/study_requests.h"

#include "tuning/study_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hfta_study_is_changed_by(hfta_request_kind kind) {
  return kind != HFTA_REQUEST_STATUS && kind != HFTA_REQUEST_SAVE &&
         kind != HFTA_REQUEST_HOLD;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Returns the epochs that all runs of a trial have done; -1 if they differ.
static int64_t find_epochs(const hfta_study *self, int64_t trial) {
  const hfta_run *runs = &self->runs[trial * self->fold_count];
  int64_t epochs = hfta_study_done_epoch(&runs[0]);
  for (int64_t fold = 1; fold < self->fold_count; ++fold)
    if (hfta_study_done_epoch(&runs[fold]) != epochs)
      return -1;
  return epochs;
}

static hfta_status check_state(const hfta_study *self,
                               const hfta_request *request, int64_t trial,
                               hfta_error *error) {
  const hfta_study_trial *row = &self->rows[trial];
  long long number = (long long)trial;
  bool is_clone = request->kind == HFTA_REQUEST_CLONE;
  bool needs_values = is_clone || request->kind == HFTA_REQUEST_SET;
  if (!is_clone && hfta_study_has_ended(self, trial))
    return hfta_fail(error, HFTA_INVALID_INPUT, "trial %lld has ended", number);
  if (needs_values && row->lineage_count == 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "trial %lld hasn't been begun, so it has no settings yet",
                     number);
  if (needs_values && find_epochs(self, trial) < 0)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the folds of trial %lld are at different epochs: wait "
                     "until it has a score",
                     number);
  if (request->kind == HFTA_REQUEST_PAUSE && row->is_paused)
    return hfta_fail(error, HFTA_INVALID_INPUT, "trial %lld is paused already",
                     number);
  if (request->kind == HFTA_REQUEST_RESUME && !row->is_paused)
    return hfta_fail(error, HFTA_INVALID_INPUT, "trial %lld isn't paused",
                     number);
  return HFTA_OK;
}

static hfta_status check_trials(const hfta_study *self,
                                const hfta_request *request,
                                hfta_error *error) {
  for (int64_t i = 0; i < request->trial_count; ++i) {
    int64_t trial = request->trials[i];
    if (trial >= self->trial_count)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "there is no trial %lld: there are trials 0 to %lld",
                       (long long)trial, (long long)self->trial_count - 1);
    for (int64_t j = 0; j < i; ++j)
      if (request->trials[j] == trial)
        return hfta_fail(error, HFTA_INVALID_INPUT, "trial %lld is there twice",
                         (long long)trial);
    hfta_status status = request->kind == HFTA_REQUEST_STATUS
                             ? HFTA_OK
                             : check_state(self, request, trial, error);
    if (status != HFTA_OK)
      return status;
  }
  return HFTA_OK;
}

/// Checks that rows of settings are complete.
static hfta_status check_rows(const hfta_study *self,
                              const hfta_request *request, hfta_error *error) {
  for (int64_t i = 0; i < request->row_count; ++i)
    for (int64_t j = 0; j < self->space.count; ++j)
      if (isnan(request->values[i * self->space.count + j]))
        return hfta_fail(error, HFTA_INVALID_INPUT,
                         "'settings': '%s' is missing in number %lld",
                         self->space.settings[j].name, (long long)i);
  return HFTA_OK;
}

/// Checks that a trial that has been trained isn't given a setting that needs
/// another array, where neither its state nor its number of steps would fit.
static hfta_status check_packed(const hfta_study *self,
                                const hfta_request *request,
                                hfta_error *error) {
  for (int64_t i = 0; i < request->trial_count; ++i) {
    const double *values = hfta_study_values(self, request->trials[i]);
    bool is_begun = find_epochs(self, request->trials[i]) > 0;
    for (int64_t j = 0; is_begun && j < self->space.count; ++j)
      if (self->space.settings[j].is_packed && !isnan(request->values[j]) &&
          request->values[j] != values[j])
        return hfta_fail(error, HFTA_UNSUPPORTED,
                         "'set': '%s' is a constant of the array that trains "
                         "trial %lld: 'add' begins a trial in another array",
                         self->space.settings[j].name,
                         (long long)request->trials[i]);
  }
  return HFTA_OK;
}

/// Checks that a clone, or a trial with other settings, differs from what it
/// was: it would do the same as before.
static hfta_status check_change(const hfta_study *self,
                                const hfta_request *request,
                                hfta_error *error) {
  if ((request->kind == HFTA_REQUEST_SET || request->warm) &&
      check_packed(self, request, error) != HFTA_OK)
    return HFTA_UNSUPPORTED;
  for (int64_t i = 0; i < request->trial_count; ++i) {
    const double *values = hfta_study_values(self, request->trials[i]);
    for (int64_t j = 0; j < self->space.count; ++j)
      if (!isnan(request->values[j]) && request->values[j] != values[j])
        return HFTA_OK;
  }
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'set' changes nothing: trial %lld has these settings",
                   (long long)request->trials[0]);
}

/// Returns whether the state with which a clone begins is still there.
static bool has_state(const hfta_study *self, int64_t trial, int64_t epochs) {
  int64_t steps = hfta_study_steps(self, trial, epochs);
  for (int64_t fold = 0; fold < self->fold_count; ++fold) {
    const hfta_run *run = &self->runs[trial * self->fold_count + fold];
    bool has = run->held && run->held->steps == steps;
    for (int64_t i = 0; i < run->file_count; ++i)
      has |= run->files[i] == steps;
    if (!has)
      return false;
  }
  return true;
}

static hfta_status check_clone(const hfta_study *self,
                               const hfta_request *request, hfta_error *error) {
  int64_t trial = request->trials[0], epochs = find_epochs(self, trial);
  if (request->warm && epochs > 0 && !has_state(self, trial, epochs))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the state of trial %lld isn't kept any more: clone it "
                     "with \"warm\": false, or save to a folder",
                     (long long)trial);
  if (request->warm && epochs >= self->rule.units)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "trial %lld has done all %lld epochs: clone it with "
                     "\"warm\": false",
                     (long long)trial, (long long)epochs);
  hfta_status status = check_change(self, request, error);
  return status == HFTA_OK
             ? hfta_trials_check_added(self->trials, 1,
                                       request->warm ? epochs : 0, error)
             : status;
}

/// Checks rows of settings against the trials that wait for some.
static hfta_status check_added(const hfta_study *self,
                               const hfta_request *request, hfta_error *error) {
  int64_t unknown = hfta_study_unknown_trials(self);
  hfta_status status = check_rows(self, request, error);
  if (status != HFTA_OK || unknown == 0)
    return status == HFTA_OK ? hfta_trials_check_added(
                                   self->trials, request->row_count, 0, error)
                             : status;
  return request->row_count <= unknown
             ? HFTA_OK
             : hfta_fail(error, HFTA_INVALID_INPUT,
                         "'settings': %lld trials wait for settings, got "
                         "%lld: give those first, then add more",
                         (long long)unknown, (long long)request->row_count);
}

/// Checks whether the sampler can draw more trials.
static hfta_status check_more(const hfta_study *self,
                              const hfta_request *request, hfta_error *error) {
  hfta_status status =
      hfta_trials_check_added(self->trials, request->count, 0, error);
  if (status != HFTA_OK)
    return status;
  if (self->sampler.kind == HFTA_SAMPLER_GRID)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "a grid has no more trials: 'add' takes settings");
  return self->sampler.kind == HFTA_SAMPLER_EXTERNAL
             ? hfta_fail(error, HFTA_UNSUPPORTED,
                         "the sampler is external: 'add' takes settings")
             : HFTA_OK;
}

/// Checks a score from outside.
static hfta_status check_told(const hfta_study *self,
                              const hfta_request *request, hfta_error *error) {
  long long trial = request->trials[0], at = request->at;
  if (!self->validation.is_external)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the search finds its scores itself: the job has no "
                     "objective external(...)");
  bool waits = hfta_study_awaits_score(self, request->trials[0]) &&
               self->rows[request->trials[0]].leg.to == request->at;
  return waits ? HFTA_OK
               : hfta_fail(error, HFTA_INVALID_INPUT,
                           "trial %lld doesn't wait for a score after epoch "
                           "%lld",
                           trial, at);
}

hfta_status hfta_study_check(const hfta_study *self,
                             const hfta_request *request, hfta_error *error) {
  hfta_status status = check_trials(self, request, error);
  if (status != HFTA_OK)
    return status;
  switch (request->kind) {
  case HFTA_REQUEST_ADD:
    return check_added(self, request, error);
  case HFTA_REQUEST_MORE:
  case HFTA_REQUEST_ASK:
    return check_more(self, request, error);
  case HFTA_REQUEST_TELL:
    return check_told(self, request, error);
  case HFTA_REQUEST_CLONE:
    return check_clone(self, request, error);
  case HFTA_REQUEST_SET:
    return check_change(self, request, error);
  default:
    return HFTA_OK;
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

static hfta_status no_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for a trial's settings");
}

/// Writes those settings of a row that are given over `values`.
static void put_over(const hfta_study *self, const double *row,
                     double *values) {
  for (int64_t i = 0; i < self->space.count; ++i)
    if (!isnan(row[i]))
      values[i] = row[i];
}

/// Adds trials that begin after `from` epochs. `*added` becomes the number of
/// the first one.
static hfta_status add(hfta_study *self, int64_t count, int64_t from,
                       int64_t *added, hfta_error *error) {
  *added = self->trial_count;
  hfta_status status = hfta_trials_add(self->trials, count, from, error);
  return status == HFTA_OK ? hfta_study_grow(self, error) : status;
}

/// Returns the first trial from `trial` on whose settings the sampler
/// `external` waits for. There is one.
static int64_t next_unknown(const hfta_study *self, int64_t trial) {
  while (self->rows[trial].lineage_count > 0 ||
         hfta_study_has_ended(self, trial))
    ++trial;
  return trial;
}

void hfta_added_free(hfta_added *self) {
  free(self->trials);
  *self = (hfta_added){.count = 0};
}

/// Makes a list of the trials that have been added from `first` on.
static hfta_status list_added(hfta_added *self, int64_t first, int64_t count,
                              hfta_error *error) {
  self->trials = calloc((size_t)count, sizeof(*self->trials));
  if (!self->trials)
    return no_memory(error);
  self->count = count;
  for (int64_t i = 0; i < count; ++i)
    self->trials[i] = first + i;
  return HFTA_OK;
}

/// Gives settings to trials that wait for some or, if none does, to new ones.
static hfta_status follow_add(hfta_study *self, const hfta_request *request,
                              hfta_added *added, hfta_error *error) {
  int64_t unknown = hfta_study_unknown_trials(self), first = 0, trial = 0;
  hfta_status status = HFTA_OK;
  if (unknown == 0)
    status = add(self, request->row_count, 0, &first, error);
  if (status == HFTA_OK)
    status = list_added(added, first, request->row_count, error);
  for (int64_t i = 0; i < request->row_count && status == HFTA_OK; ++i) {
    if (unknown > 0)
      added->trials[i] = trial = next_unknown(self, trial);
    hfta_lineage *entry = hfta_study_append_lineage(self, added->trials[i]);
    if (!entry)
      return no_memory(error);
    put_over(self, request->values + i * self->space.count, entry->values);
    hfta_study_find_array(self, added->trials[i]);
    status = hfta_study_say_trial(self, added->trials[i], error);
  }
  return status;
}

/// Adds trials that the sampler draws. `are_paused`: they don't begin yet.
static hfta_status follow_more(hfta_study *self, int64_t count, bool are_paused,
                               hfta_added *added, hfta_error *error) {
  int64_t first;
  self->sampled_trials += count;
  hfta_status status = add(self, count, 0, &first, error);
  for (int64_t i = 0; i < count && status == HFTA_OK; ++i)
    self->rows[first + i].is_paused = are_paused;
  return status == HFTA_OK ? list_added(added, first, count, error) : status;
}

/// Takes a score from outside.
static void follow_tell(hfta_study *self, const hfta_request *request) {
  hfta_evaluated *found =
      hfta_study_find_evaluation(self, request->trials[0], request->at);
  found->is_told = true;
  found->told = request->score;
}

/// Gives the runs of a clone the states of their donors'.
static void take_over(hfta_study *self, int64_t clone, int64_t donor,
                      int64_t epochs) {
  for (int64_t fold = 0; fold < self->fold_count; ++fold) {
    hfta_run *run = &self->runs[clone * self->fold_count + fold];
    int64_t origin = donor * self->fold_count + fold;
    hfta_held_state *state = self->runs[origin].held;
    run->origin = origin;
    run->origin_steps = hfta_study_steps(self, donor, epochs);
    run->begin_epoch = epochs;
    if (state && state->steps == run->origin_steps)
      run->held = hfta_held_state_share(state);
  }
}

static hfta_status follow_clone(hfta_study *self, const hfta_request *request,
                                hfta_added *out, hfta_error *error) {
  int64_t donor = request->trials[0];
  int64_t epochs = request->warm ? find_epochs(self, donor) : 0;
  int64_t added;
  hfta_status status = add(self, 1, epochs, &added, error);
  if (status == HFTA_OK)
    status = list_added(out, added, 1, error);
  if (status != HFTA_OK)
    return status;
  hfta_lineage *entry = hfta_study_append_lineage(self, added);
  if (!entry)
    return no_memory(error);
  memcpy(entry->values, hfta_study_values(self, donor),
         sizeof(double) * (size_t)self->space.count);
  put_over(self, request->values, entry->values);
  hfta_study_find_array(self, added);
  if (epochs == 0)
    return hfta_study_say_trial(self, added, error);
  entry->epoch = epochs;
  entry->donor = donor;
  take_over(self, added, donor, epochs);
  return hfta_study_say_clone(self, added, error);
}

/// Gives a trial other settings for its next epochs.
static hfta_status follow_set(hfta_study *self, const hfta_request *request,
                              int64_t trial, hfta_error *error) {
  hfta_study_trial *row = &self->rows[trial];
  hfta_lineage *last = &row->lineage[row->lineage_count - 1];
  int64_t epochs = find_epochs(self, trial);
  if (last->epoch < epochs) {
    hfta_lineage *entry = hfta_study_append_lineage(self, trial);
    if (!entry)
      return no_memory(error);
    last = &row->lineage[row->lineage_count - 2];
    memcpy(entry->values, last->values,
           sizeof(double) * (size_t)self->space.count);
    entry->epoch = epochs;
    entry->donor = trial;
    last = entry;
  }
  put_over(self, request->values, last->values);
  hfta_study_find_array(self, trial);
  return HFTA_OK;
}

static hfta_status withdraw(hfta_study *self, int64_t trial,
                            hfta_error *error) {
  self->rows[trial].has_leg = false;
  self->rows[trial].is_paused = false;
  return hfta_trials_withdraw(self->trials, trial, error);
}

static hfta_status follow_one(hfta_study *self, const hfta_request *request,
                              int64_t trial, hfta_error *error) {
  switch (request->kind) {
  case HFTA_REQUEST_STOP:
    return withdraw(self, trial, error);
  case HFTA_REQUEST_PAUSE:
  case HFTA_REQUEST_RESUME:
    self->rows[trial].is_paused = request->kind == HFTA_REQUEST_PAUSE;
    return HFTA_OK;
  case HFTA_REQUEST_SET:
    return follow_set(self, request, trial, error);
  default:
    return HFTA_OK;
  }
}

/// Withdraws the trials that haven't been trained yet.
static hfta_status follow_end(hfta_study *self, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < self->trial_count && status == HFTA_OK; ++i) {
    int64_t epochs = find_epochs(self, i);
    if (epochs == 0 && !hfta_study_has_ended(self, i))
      status = withdraw(self, i, error);
  }
  return status;
}

hfta_status hfta_study_follow(hfta_study *self, const hfta_request *request,
                              hfta_added *added, hfta_error *error) {
  *added = (hfta_added){.count = 0};
  switch (request->kind) {
  case HFTA_REQUEST_ADD:
    return follow_add(self, request, added, error);
  case HFTA_REQUEST_MORE:
  case HFTA_REQUEST_ASK:
    return follow_more(self, request->count, request->kind == HFTA_REQUEST_ASK,
                       added, error);
  case HFTA_REQUEST_TELL:
    follow_tell(self, request);
    return HFTA_OK;
  case HFTA_REQUEST_CLONE:
    return follow_clone(self, request, added, error);
  case HFTA_REQUEST_END:
    return request->now ? HFTA_OK : follow_end(self, error);
  default:
    break;
  }
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < request->trial_count && status == HFTA_OK; ++i)
    status = follow_one(self, request, request->trials[i], error);
  return status;
}

hfta_status hfta_study_repeat(hfta_study *self, const char *members,
                              int64_t number, hfta_error *error) {
  size_t length = strlen(members) + 2;
  char *text = malloc(length);
  if (!text)
    return no_memory(error);
  snprintf(text, length, "{%s", members);
  hfta_request request;
  hfta_error reason;
  hfta_added added = {.count = 0};
  hfta_status status =
      hfta_request_parse(text, length - 1, &self->space, &request, &reason);
  if (status == HFTA_OK)
    status = check_trials(self, &request, &reason);
  // Other checks hold for the search that was steered, whose states may be
  // gone.
  if (status == HFTA_OK && request.kind == HFTA_REQUEST_ADD)
    status = check_added(self, &request, &reason);
  if (status == HFTA_OK && request.kind == HFTA_REQUEST_TELL)
    status = check_told(self, &request, &reason);
  if (status == HFTA_OK)
    status = hfta_study_follow(self, &request, &added, &reason);
  if (status != HFTA_OK)
    status = hfta_fail(error, HFTA_INVALID_INPUT,
                       "line %lld of the search's journal is no command that "
                       "can be followed: %s",
                       (long long)number, reason.message);
  hfta_added_free(&added);
  hfta_request_free(&request);
  free(text);
  return status;
}
