//===- replay.c - Trains one trial of a search alone ----------------------===//

#include "tuning/tuner_impl.h"

#include "checkpoint/checkpoint_impl.h"
#include "system/clock.h"
#include "training/evaluate.h"
#include "tuning/copy_state.h"
#include "tuning/saved_study.h"
#include "tuning/trial_files.h"

#include <stdlib.h>
#include <string.h>

/// The state of a replay. The run is the only one of the tuner's cohort.
typedef struct replay {
  hfta_tuner *tuner;
  int64_t run;
  const hfta_lineage **lineage;
  int64_t lineage_count;
  int64_t epochs; ///< those of the last evaluation
  hfta_replay_result *result;
} replay;

/// Finds the trial's lineage. An entry begins after another epoch than the
/// others, so that there are at most as many as epochs.
static hfta_status find_lineage(replay *self) {
  hfta_tuner *tuner = self->tuner;
  const hfta_run *run = &tuner->study->runs[self->run];
  self->epochs = hfta_study_last_epoch(run);
  if (self->epochs == 0)
    return hfta_fail(tuner->error, HFTA_USAGE,
                     "trial %lld hasn't been evaluated yet, so that there is "
                     "nothing to compare",
                     (long long)run->trial);
  self->lineage = calloc((size_t)self->epochs, sizeof(*self->lineage));
  if (!self->lineage)
    return hfta_fail(tuner->error, HFTA_UNSUPPORTED,
                     "not enough memory for a lineage");
  self->lineage_count = hfta_study_trace(tuner->study, run->trial, self->epochs,
                                         self->lineage, self->epochs);
  return HFTA_OK;
}

/// Begins with initial weights and the settings of the first entry.
static hfta_status begin(replay *self) {
  hfta_tuner *tuner = self->tuner;
  const int32_t slot = 0;
  tuner->cohort.runs[0] = self->run;
  tuner->cohort.count = 1;
  hfta_status status = hfta_instance_set_horizon(
      tuner->instance, slot,
      tuner->study->rule.units * hfta_tuner_steps_per_epoch(tuner));
  if (status == HFTA_OK)
    status = hfta_tuner_set_values(tuner, slot, self->lineage[0]->values);
  if (status == HFTA_OK)
    status = hfta_instance_restart(tuner->instance, &slot, 1);
  if (status == HFTA_OK)
    status = hfta_instance_set_steps(tuner->instance, 0);
  return status == HFTA_OK ? hfta_instance_set_live(tuner->instance, &slot, 1)
                           : status;
}

/// Returns whether two numbers have the same bits. All NaNs are alike.
static bool are_equal(double one, double other) {
  return (one != one && other != other) ||
         memcmp(&one, &other, sizeof(one)) == 0;
}

/// Evaluates after an epoch, if the run was evaluated then, and compares.
static hfta_status compare_scores(replay *self, int64_t epoch) {
  hfta_tuner *tuner = self->tuner;
  const hfta_run *run = &tuner->study->runs[self->run];
  const hfta_evaluated *found = NULL;
  for (int64_t i = 0; i < run->evaluation_count; ++i)
    if (run->evaluations[i].epoch == epoch)
      found = &run->evaluations[i];
  if (!found)
    return HFTA_OK;
  bool stopped;
  hfta_status status = hfta_tuner_evaluate(tuner, &tuner->data.validation,
                                           /*can_stop=*/false, &stopped);
  bool is_equal =
      status == HFTA_OK && are_equal(found->loss, tuner->losses[0]) &&
      are_equal(found->metric,
                hfta_program_main_value(tuner->program, tuner->metrics, 0));
  if (!is_equal && self->result->different_epoch == 0)
    self->result->different_epoch = epoch;
  return status;
}

/// Trains by one entry of the lineage, up to an epoch.
static hfta_status train(replay *self, const hfta_lineage *entry, int64_t to) {
  hfta_tuner *tuner = self->tuner;
  const hfta_study_trial *row =
      &tuner->study->rows[tuner->study->runs[self->run].trial];
  bool is_own =
      entry >= row->lineage && entry < row->lineage + row->lineage_count;
  hfta_status status = hfta_tuner_set_values(tuner, 0, entry->values);
  for (int64_t epoch = entry->epoch + 1;
       epoch <= to && status == HFTA_OK && !tuner->stops; ++epoch) {
    status =
        hfta_tuner_run_steps(tuner, epoch * hfta_tuner_steps_per_epoch(tuner));
    if (status == HFTA_OK && !tuner->stops && is_own)
      status = compare_scores(self, epoch);
  }
  return status;
}

/// Compares the slot's state with that of the folder's file.
static hfta_status compare_states(replay *self) {
  hfta_tuner *tuner = self->tuner;
  const hfta_run *run = &tuner->study->runs[self->run];
  int64_t steps = tuner->cohort.steps;
  uint64_t bytes = hfta_copy_state_bytes(tuner->instance, 0);
  hfta_path path;
  for (int64_t i = 0; i < run->file_count; ++i)
    self->result->has_file |= run->files[i] == steps;
  if (!self->result->has_file)
    return HFTA_OK;
  char *own = malloc(bytes + 1), *saved = malloc(bytes + 1);
  hfta_status status =
      own && saved ? hfta_copy_state_take(tuner->instance, 0, own)
                   : hfta_fail(tuner->error, HFTA_UNSUPPORTED,
                               "not enough memory to compare two states");
  if (status == HFTA_OK)
    status = hfta_trial_file_path(&path, tuner->folder, tuner->study, self->run,
                                  "step", steps, tuner->error);
  if (status == HFTA_OK)
    status = hfta_checkpoint_read_copy(tuner->instance, 0, path.text, steps,
                                       tuner->epoch_losses);
  if (status == HFTA_OK)
    status = hfta_copy_state_take(tuner->instance, 0, saved);
  self->result->is_equal = status == HFTA_OK && memcmp(own, saved, bytes) == 0;
  free(own);
  free(saved);
  return status;
}

static hfta_status run(replay *self) {
  hfta_tuner *tuner = self->tuner;
  hfta_status status = find_lineage(self);
  tuner->cohort.array =
      tuner->study->rows[tuner->study->runs[self->run].trial].array;
  if (status == HFTA_OK)
    status = hfta_tuner_use_array(tuner, tuner->cohort.array);
  if (status == HFTA_OK)
    status = hfta_tuner_divide(tuner, tuner->study->runs[self->run].fold);
  if (status == HFTA_OK)
    status = begin(self);
  for (int64_t i = 0;
       i < self->lineage_count && status == HFTA_OK && !tuner->stops; ++i)
    status = train(self, self->lineage[i],
                   i + 1 < self->lineage_count ? self->lineage[i + 1]->epoch
                                               : self->epochs);
  self->result->epochs =
      tuner->cohort.steps / hfta_tuner_steps_per_epoch(tuner);
  self->result->interrupted = tuner->stops;
  return status == HFTA_OK && !tuner->stops ? compare_states(self) : status;
}

/// Checks that epochs have as many steps as they had.
static hfta_status check_steps(const hfta_tuner *self) {
  const int64_t *now = self->steps_per_epoch,
                *before = self->study->steps_per_epoch;
  for (int64_t i = 0; i < self->arrays[0]->search->array_count; ++i)
    if (now[i] != before[i])
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "the data have %lld steps an epoch, but the search had "
                       "%lld: they have changed",
                       (long long)now[i], (long long)before[i]);
  return HFTA_OK;
}

/// Checks that there is such a run, and sets `*out` to its number.
static hfta_status find_run(const hfta_tuner *self, int64_t trial, int64_t fold,
                            int64_t *out) {
  const hfta_study *study = self->study;
  *out = trial * study->fold_count + fold;
  if (trial >= study->trial_count)
    return hfta_fail(self->error, HFTA_USAGE,
                     "there is no trial %lld: the search has trials 0 to %lld",
                     (long long)trial, (long long)study->trial_count - 1);
  return fold < study->fold_count
             ? HFTA_OK
             : hfta_fail(self->error, HFTA_USAGE,
                         "there is no fold %lld: trials have folds 0 to %lld",
                         (long long)fold, (long long)study->fold_count - 1);
}

hfta_status hfta_replay(hfta_instance *instance,
                        const hfta_tuner_options *options, int64_t trial,
                        int64_t fold, hfta_replay_result *result) {
  *result = (hfta_replay_result){.epochs = 0};
  hfta_tuner tuner;
  hfta_tuner_init(&tuner, instance, options,
                  &(hfta_tuner_result){.study = NULL});
  replay self = {.tuner = &tuner, .result = result};
  hfta_saved_study saved;
  hfta_status status = hfta_saved_study_open(
      tuner.arrays, tuner.folder, tuner.team.communicator, &saved, tuner.error);
  tuner.study = saved.study;
  if (status == HFTA_OK)
    status = find_run(&tuner, trial, fold, &self.run);
  if (status == HFTA_OK)
    status = hfta_trial_files_find(tuner.folder, tuner.study, instance);
  if (status == HFTA_OK)
    status = hfta_tuner_begin(&tuner);
  if (status == HFTA_OK)
    status = check_steps(&tuner);
  if (status == HFTA_OK)
    status = run(&self);
  if (status != HFTA_OK)
    result->error = *tuner.error;
  free(self.lineage);
  tuner.study = NULL;
  hfta_tuner_close(&tuner);
  hfta_saved_study_close(&saved);
  return status;
}
