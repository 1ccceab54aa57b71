//===- place.c - Where runs go on -----------------------------------------===//

#include "tuning/tuner_impl.h"

#include "checkpoint/checkpoint_impl.h"
#include "tuning/copy_state.h"
#include "tuning/trial_files.h"

/// Returns the last of a run's files that is of at least `least` and at most
/// `most` steps; -1 if there is none.
static int64_t last_file(const hfta_run *run, int64_t least, int64_t most) {
  for (int64_t i = run->file_count; i > 0; --i)
    if (run->files[i - 1] >= least && run->files[i - 1] <= most)
      return run->files[i - 1];
  return -1;
}

int64_t hfta_tuner_begin_of(const hfta_tuner *self, int64_t number) {
  const hfta_study *study = self->study;
  const hfta_run *run = &study->runs[number];
  // A state after later steps would lack an evaluation.
  int64_t most = hfta_study_steps(
      study, run->trial,
      hfta_study_next_epoch(study, number, hfta_study_done_epoch(run)));
  // Files that a clone had before it took over another state count no more.
  int64_t least = run->origin >= 0 ? run->origin_steps + 1 : 1;
  int64_t steps = last_file(run, least, most);
  // A clone's state in memory may be its donor's.
  if (run->held && run->held->steps <= most && run->held->steps > steps)
    steps = run->held->steps;
  if (steps >= 0)
    return steps;
  return run->origin >= 0 ? run->origin_steps : 0;
}

hfta_status hfta_tuner_set_values(hfta_tuner *self, int64_t slot,
                                  const double *values) {
  const hfta_search_space *space = &self->study->space;
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < space->count && status == HFTA_OK; ++i)
    if (!space->settings[i].is_packed)
      status = hfta_instance_set_hyper_parameter(
          self->instance, slot, space->settings[i].name, values[i]);
  return status;
}

static hfta_status give(hfta_tuner *self, const hfta_held_state *state,
                        int64_t slot) {
  self->epoch_losses[slot] = state->epoch_losses;
  return hfta_copy_state_give(self->instance, slot, state->data);
}

/// Loads the file of a run's state after `steps` steps into a slot.
static hfta_status load(hfta_tuner *self, int64_t run, int64_t slot,
                        int64_t steps) {
  hfta_path path;
  hfta_status status = hfta_trial_file_path(&path, self->folder, self->study,
                                            run, "step", steps, self->error);
  return status == HFTA_OK
             ? hfta_checkpoint_read_copy(self->instance, slot, path.text, steps,
                                         self->epoch_losses)
             : status;
}

hfta_status hfta_tuner_place(hfta_tuner *self, int64_t number, int64_t slot,
                             int64_t steps) {
  const hfta_study *study = self->study;
  const hfta_run *run = &study->runs[number];
  if (run->held && run->held->steps == steps)
    return give(self, run->held, slot);
  // A clone that hasn't been saved since begins with its donor's state.
  bool is_donors = run->origin >= 0 && run->origin_steps == steps;
  int64_t owner = is_donors ? run->origin : number;
  if (last_file(&study->runs[owner], steps, steps) == steps)
    return load(self, owner, slot, steps);
  return hfta_fail(self->error, HFTA_INVALID_INPUT,
                   "the state of trial %lld after step %lld is missing%s%s%s",
                   (long long)run->trial, (long long)steps,
                   self->folder ? ": its file is gone from '" : "",
                   self->folder ? self->folder : "",
                   self->folder ? "'; --overwrite begins anew" : "");
}

/// Puts the weights that a run is judged by into a slot.
static hfta_status place_judged(hfta_tuner *self, int64_t number,
                                int64_t slot) {
  const hfta_study *study = self->study;
  const hfta_run *run = &study->runs[number];
  const hfta_evaluated *scored = hfta_study_scored(study, number);
  int64_t steps = hfta_study_steps(study, run->trial, scored->epoch);
  if (run->best_held && run->best_held->steps == steps)
    return give(self, run->best_held, slot);
  if (run->held && run->held->steps == steps)
    return give(self, run->held, slot);
  if (!self->folder)
    return hfta_tuner_place(self, number, slot, steps);
  return hfta_trial_files_load_judged(self->folder, study, self->instance,
                                      number, slot, self->epoch_losses);
}

hfta_status hfta_tuner_place_judged(hfta_tuner *self, int64_t number,
                                    int64_t slot) {
  // Evaluations may read settings, such as label smoothing.
  const hfta_evaluated *scored = hfta_study_scored(self->study, number);
  hfta_status status = hfta_tuner_set_values(
      self, slot,
      hfta_study_values_at(self->study, self->study->runs[number].trial,
                           scored->epoch));
  return status == HFTA_OK ? place_judged(self, number, slot) : status;
}

hfta_status hfta_tuner_hold(hfta_tuner *self, int64_t slot) {
  hfta_run *run = &self->study->runs[self->cohort.runs[slot]];
  hfta_held_state *state =
      hfta_held_state_create(hfta_copy_state_bytes(self->instance, slot));
  if (!state)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for the state of trial %lld",
                     (long long)run->trial);
  state->steps = self->cohort.steps;
  state->epoch_losses = self->epoch_losses[slot];
  hfta_held_state_drop(&run->held);
  run->held = state;
  return hfta_copy_state_take(self->instance, slot, state->data);
}

hfta_status hfta_tuner_hold_trial(hfta_tuner *self, int64_t trial) {
  hfta_status status = HFTA_OK;
  for (int64_t slot = 0; slot < self->cohort.count && status == HFTA_OK; ++slot)
    if (!self->cohort.leaves[slot] &&
        self->study->runs[self->cohort.runs[slot]].trial == trial)
      status = hfta_tuner_hold(self, slot);
  return status;
}
