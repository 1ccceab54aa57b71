//===- saved_trial.c - Which trial of a saved search ----------------------===//

#include "command_line/trials/saved_trial.h"

#include "checkpoint/averages.h"
#include "command_line/jobs.h"
#include "instance/instance_facts.h"
#include "tuning/saved_study.h"
#include "tuning/trial_files.h"

#include <stdlib.h>

/// Finds the number of the chosen run.
static hfta_status find_run(const hfta_study *study,
                            const hfta_trial_arguments *arguments, int64_t *out,
                            hfta_error *error) {
  int64_t trial = arguments->best ? hfta_study_best(study) : arguments->trial;
  int64_t fold = arguments->fold < 0 ? 0 : arguments->fold;
  *out = trial * study->fold_count + fold;
  if (trial == HFTA_NO_TRIAL)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "no trial of the search has a finite score yet");
  if (trial >= study->trial_count)
    return hfta_fail(error, HFTA_USAGE,
                     "there is no trial %lld: the search has trials 0 to %lld",
                     (long long)trial, (long long)study->trial_count - 1);
  if (arguments->fold >= study->fold_count)
    return hfta_fail(error, HFTA_USAGE,
                     "there is no fold %lld: trials have %lld", (long long)fold,
                     (long long)study->fold_count);
  return study->fold_count > 1 && arguments->fold < 0
             ? hfta_fail(error, HFTA_USAGE,
                         "a trial of this search has %lld models, one for each "
                         "fold: give --fold J",
                         (long long)study->fold_count)
             : HFTA_OK;
}

/// Gives a copy the settings with which a run's judged weights were trained:
/// evaluations may read some, such as label smoothing.
static hfta_status set_values(const hfta_study *study, int64_t run,
                              hfta_instance *instance, int64_t copy) {
  const hfta_evaluated *scored = hfta_study_scored(study, run);
  const double *values =
      hfta_study_values_at(study, study->runs[run].trial, scored->epoch);
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < study->space.count && status == HFTA_OK; ++i)
    if (!study->space.settings[i].is_packed)
      status = hfta_instance_set_hyper_parameter(
          instance, copy, study->space.settings[i].name, values[i]);
  return status;
}

int hfta_choose_array(hfta_invocation *invocation,
                      const hfta_trial_arguments *arguments,
                      const char *folder) {
  hfta_error error;
  hfta_saved_study saved;
  int64_t run;
  hfta_status status =
      hfta_saved_study_open(invocation->arrays, folder,
                            invocation->ranks->communicator, &saved, &error);
  if (status == HFTA_OK)
    status = find_run(saved.study, arguments, &run, &error);
  if (status == HFTA_OK)
    hfta_set_program(
        invocation,
        invocation
            ->arrays[saved.study->rows[saved.study->runs[run].trial].array]);
  hfta_saved_study_close(&saved);
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error.message);
}

int hfta_load_trial(const hfta_invocation *invocation,
                    const hfta_trial_arguments *arguments, const char *folder,
                    hfta_instance *instance, int64_t copy, int64_t *trial) {
  hfta_error *error = hfta_instance_error(instance);
  hfta_epoch_losses *losses =
      calloc((size_t)invocation->program->copies, sizeof(*losses));
  hfta_saved_study saved;
  int64_t run;
  hfta_status status = hfta_saved_study_open(
      invocation->arrays, folder, hfta_instance_communicator(instance), &saved,
      error);
  if (status == HFTA_OK && !losses)
    status =
        hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to load a trial");
  if (status == HFTA_OK)
    status = find_run(saved.study, arguments, &run, error);
  if (status == HFTA_OK)
    status = hfta_trial_files_find(folder, saved.study, instance);
  hfta_instance_add_offsets(instance);
  if (status == HFTA_OK)
    status = hfta_trial_files_load_judged(folder, saved.study, instance, run,
                                          copy, losses);
  if (status == HFTA_OK)
    status = set_values(saved.study, run, instance, copy);
  if (status == HFTA_OK)
    *trial = saved.study->runs[run].trial;
  hfta_saved_study_close(&saved);
  free(losses);
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error->message);
}
