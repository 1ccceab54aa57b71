//===- tuner.c - Trains the trials of a search ----------------------------===//

#include "tuning/tuner_impl.h"

#include "system/clock.h"
#include "training/evaluate.h"
#include "tuning/catch_up.h"
#include "tuning/steer.h"
#include "tuning/trial_files.h"

#include <math.h>

/// Evaluates the weights of the best trial on the test data: the mean over its
/// folds.
static hfta_status test(hfta_tuner *self) {
  const hfta_study *study = self->study;
  int64_t best = hfta_study_best(study);
  const int32_t slot = 0;
  if (!self->has_test || best == HFTA_NO_TRIAL)
    return HFTA_OK;
  double loss = 0, metric = 0;
  hfta_status status = hfta_tuner_use_array(self, study->rows[best].array);
  if (status == HFTA_OK)
    status = hfta_instance_set_live(self->instance, &slot, 1);
  for (int64_t fold = 0; fold < study->fold_count && status == HFTA_OK;
       ++fold) {
    bool stopped;
    status =
        hfta_tuner_place_judged(self, best * study->fold_count + fold, slot);
    if (status == HFTA_OK)
      status =
          hfta_tuner_evaluate(self, &self->test, /*can_stop=*/false, &stopped);
    loss += self->losses[slot];
    metric += hfta_program_main_value(self->program, self->metrics, slot);
  }
  if (status == HFTA_OK) {
    self->result->test_loss = loss / (double)study->fold_count;
    self->result->test_metric = metric / (double)study->fold_count;
  }
  return status;
}

/// Counts trials that take part in the search's decisions no more.
static int64_t count_ended(const hfta_study *study) {
  int64_t count = 0;
  for (int64_t i = 0; i < study->trial_count; ++i)
    count += hfta_study_has_ended(study, i);
  return count;
}

/// Shows the user how the search stands after a cohort.
static void report(hfta_tuner *self) {
  const hfta_study *study = self->study;
  int64_t best = hfta_study_best(study);
  int64_t epoch = self->cohort.steps / hfta_tuner_steps_per_epoch(self);
  char text[32], leader[96] = "";
  if (best != HFTA_NO_TRIAL) {
    double score = hfta_study_score(study, best);
    if (study->validation.by_metric)
      hfta_metric_text(hfta_program_main_metric(self->program), score, text);
    else
      snprintf(text, sizeof(text), "%.5f", score);
    snprintf(leader, sizeof(leader), "; best: trial %lld, %s", (long long)best,
             text);
  }
  hfta_progress_note(&self->progress,
                     "%lld trials trained to epoch %lld; %lld of %lld ended%s",
                     (long long)self->cohort.count, (long long)epoch,
                     (long long)count_ended(study),
                     (long long)study->trial_count, leader);
}

static hfta_status train_cohort(hfta_tuner *self) {
  hfta_status status = hfta_tuner_train_cohort(self);
  if (status == HFTA_OK)
    status = hfta_journal_sync(self->journal, self->error);
  if (status == HFTA_OK)
    report(self);
  return status;
}

/// Asks for as many trials as the user wants now, if a saved search has fewer.
static hfta_status ask_for_more(hfta_tuner *self) {
  int64_t wanted = self->options->trials > 0 ? self->options->trials
                                             : self->program->search->trials;
  int64_t present = self->study->sampled_trials;
  if (wanted == present || (wanted < present && self->options->trials == 0))
    return HFTA_OK;
  if (wanted < present)
    return hfta_fail(self->error, HFTA_USAGE,
                     "the search in '%s' has %lld trials already: expected at "
                     "least as many, got %lld",
                     self->folder, (long long)present, (long long)wanted);
  const hfta_request more = {.kind = HFTA_REQUEST_MORE,
                             .count = wanted - present};
  hfta_error reason;
  hfta_added added = {.count = 0};
  hfta_status status = hfta_tuner_ask(self, &more, &added, &reason);
  hfta_added_free(&added);
  return status == HFTA_OK && reason.code != HFTA_OK
             ? hfta_fail(self->error, reason.code, "%s", reason.message)
             : status;
}

/// Returns a note about what trials wait for, of whose legs none can be
/// trained; NULL if they wait for nothing that a request could bring.
static const char *find_missing(const hfta_study *study) {
  for (int64_t i = 0; i < study->trial_count; ++i)
    if (study->rows[i].is_paused)
      return "all trials that are left are paused: --control takes requests to "
             "resume them";
  for (int64_t i = 0; i < study->trial_count; ++i)
    if (hfta_study_awaits_score(study, i))
      return "trials wait for scores from outside: --control takes requests "
             "'tell'";
  return hfta_study_unknown_trials(study) > 0
             ? "trials wait for settings: --control takes requests 'add'"
             : NULL;
}

/// Waits for requests, if there may be any. Else the search stops, since trials
/// wait for some.
static hfta_status wait_for_requests(hfta_tuner *self) {
  enum { MILLISECONDS = 100 };
  const hfta_train_options *train = self->options->train;
  const char *missing = find_missing(self->study);
  if (!missing && !self->is_held_open)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "the search isn't over, but none of its trials can go on: "
                     "its journal lacks an evaluation");
  if (!self->is_controlled) {
    hfta_progress_note(&self->progress, "%s", missing);
    self->stops = true;
    return HFTA_OK;
  }
  double before = hfta_now();
  hfta_status status = hfta_tuner_steer(self, MILLISECONDS);
  // It isn't time spent computing.
  self->begin += hfta_now() - before;
  int64_t wish =
      train->should_stop && train->should_stop(train->should_stop_argument);
  if (status == HFTA_OK)
    status = hfta_communicator_max(self->team.communicator, "wishes to stop",
                                   &wish, self->error);
  self->stops |= wish != 0;
  return status;
}

/// Trains all trials, or until the search is to stop.
static hfta_status train_all(hfta_tuner *self) {
  hfta_status status = HFTA_OK;
  while (status == HFTA_OK && !self->stops &&
         (self->is_held_open || !hfta_study_is_over(self->study)))
    status =
        hfta_tuner_choose(self) ? train_cohort(self) : wait_for_requests(self);
  return status;
}

/// Says in how many slots trials are trained, and with which batches.
static void announce_slots(hfta_tuner *self) {
  const hfta_study *study = self->study;
  int64_t arrays = self->arrays[0]->search->array_count;
  if (arrays > 1)
    hfta_progress_note(&self->progress,
                       "%s: %lld trials in %lld arrays, which take turns, "
                       "%d threads",
                       self->program->name, (long long)study->trial_count,
                       (long long)arrays,
                       hfta_instance_threads(self->instance));
  else
    hfta_progress_note(
        &self->progress,
        "%s: %lld trials in %lld slots, batch %lld, %lld steps an epoch, "
        "%d threads",
        self->program->name, (long long)study->trial_count,
        (long long)self->program->copies, (long long)self->program->batch,
        (long long)study->steps_per_epoch[0],
        hfta_instance_threads(self->instance));
}

static void announce(hfta_tuner *self) {
  const hfta_study *study = self->study;
  announce_slots(self);
  hfta_progress_note(
      &self->progress,
      "data: %lld samples to train, %lld for validation, %lld to test",
      (long long)self->data.train.samples,
      (long long)self->data.validation.samples, (long long)self->test.samples);
  if (hfta_journal_is_resumed(self->journal))
    hfta_progress_note(&self->progress, "resuming: %lld of %lld trials ended",
                       (long long)count_ended(study),
                       (long long)study->trial_count);
}

/// Removes files that an earlier run would have removed if it hadn't been
/// killed.
static void tidy_folder(hfta_tuner *self) {
  bool removes = hfta_team_leads(&self->team);
  hfta_trial_files_cut(self->folder, self->study, removes);
  hfta_trial_files_tidy(self->folder, self->study, removes);
}

/// Finds out why the search has stopped, if it isn't over. A rank may have been
/// stopped by a signal to another one.
static hfta_status find_reason(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  int64_t signals =
      train->should_stop && train->should_stop(train->should_stop_argument);
  hfta_status status = hfta_communicator_max(
      self->team.communicator, "signals to stop", &signals, self->error);
  bool stops = self->stops && !hfta_study_is_over(self->study);
  self->result->interrupted = stops && signals != 0;
  self->result->stopped = stops;
  return status;
}

static hfta_status run(hfta_tuner *self) {
  hfta_status status = hfta_study_catch_up(self->study, self->error);
  if (status == HFTA_OK && self->folder)
    status = hfta_trial_files_find(self->folder, self->study, self->instance);
  if (status == HFTA_OK && self->folder)
    tidy_folder(self);
  if (status == HFTA_OK)
    status = hfta_journal_sync(self->journal, self->error);
  if (status == HFTA_OK)
    status = ask_for_more(self);
  if (status == HFTA_OK)
    status = hfta_tuner_publish(self);
  if (status == HFTA_OK)
    announce(self);
  if (status == HFTA_OK)
    status = train_all(self);
  if (status == HFTA_OK && hfta_study_is_over(self->study))
    status = test(self);
  self->result->seconds = hfta_tuner_seconds(self);
  if (status == HFTA_OK)
    status = find_reason(self);
  self->result->saved = status == HFTA_OK && self->folder != NULL;
  return status == HFTA_OK ? hfta_team_meet(&self->team, self->error) : status;
}

hfta_status hfta_tune(hfta_instance *instance,
                      const hfta_tuner_options *options,
                      hfta_tuner_result *result) {
  *result = (hfta_tuner_result){.test_loss = NAN, .test_metric = NAN};
  hfta_tuner self;
  hfta_tuner_init(&self, instance, options, result);
  hfta_status status = hfta_tuner_prepare(&self);
  if (status == HFTA_OK)
    status = run(&self);
  if (status != HFTA_OK)
    result->error = *self.error;
  hfta_progress_end(&self.progress);
  result->study = self.study;
  self.study = NULL;
  hfta_tuner_close(&self);
  if (result->study)
    result->study->journal = NULL;
  return status;
}

void hfta_tuner_result_free(hfta_tuner_result *result) {
  hfta_study_destroy(result->study);
  result->study = NULL;
}
