//===- cohort.c - Trains runs that have done equally many steps -----------===//

#include "tuning/tuner_impl.h"

#include "instance/instance_facts.h"
#include "system/clock.h"
#include "training/evaluate.h"
#include "tuning/copy_state.h"
#include "tuning/steer.h"
#include "tuning/trial_files.h"

#include <math.h>
#include <string.h>

static hfta_run *run_of(const hfta_tuner *self, int64_t slot) {
  return &self->study->runs[self->cohort.runs[slot]];
}

//===----------------------------------------------------------------------===//
// Choice of a cohort
//===----------------------------------------------------------------------===//

int64_t hfta_tuner_steps_per_epoch(const hfta_tuner *self) {
  return self->study->steps_per_epoch[self->cohort.array];
}

/// Returns the array that trains a run.
static int64_t array_of(const hfta_tuner *self, int64_t run) {
  return self->study->rows[self->study->runs[run].trial].array;
}

/// Returns whether a run has been trained for its leg, but not to its end.
static bool is_begun(const hfta_tuner *self, int64_t run) {
  const hfta_study *study = self->study;
  int64_t trial = study->runs[run].trial;
  return hfta_tuner_begin_of(self, run) >
         hfta_study_steps(study, trial, study->rows[trial].leg.from);
}

/// Returns the run with which a cohort begins. Runs that have been begun come
/// first, so that a resumed search goes on with the cohort that was stopped;
/// then those of the array that has the turn. -1: no run waits.
static int64_t choose_first(const hfta_tuner *self) {
  int64_t first = hfta_study_next_run(self->study, 0);
  int64_t found = first;
  for (int64_t run = first; run >= 0;
       run = hfta_study_next_run(self->study, run + 1)) {
    if (is_begun(self, run))
      return run;
    if (array_of(self, found) != self->array &&
        array_of(self, run) == self->array)
      found = run;
  }
  return found;
}

bool hfta_tuner_choose(hfta_tuner *self) {
  hfta_cohort *cohort = &self->cohort;
  cohort->count = cohort->left = 0;
  int64_t first = choose_first(self);
  if (first < 0)
    return false;
  cohort->steps = hfta_tuner_begin_of(self, first);
  cohort->fold = self->study->runs[first].fold;
  cohort->array = array_of(self, first);
  bool begun = is_begun(self, first);
  int64_t slots = self->arrays[cohort->array]->copies;
  for (int64_t run = first; run >= 0 && cohort->count < slots;
       run = hfta_study_next_run(self->study, run + 1)) {
    if (array_of(self, run) != cohort->array ||
        hfta_tuner_begin_of(self, run) != cohort->steps ||
        self->study->runs[run].fold != cohort->fold ||
        is_begun(self, run) != begun)
      continue;
    cohort->leaves[cohort->count] = false;
    cohort->runs[cohort->count++] = run;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Gives a slot the settings that its run's trial has.
static hfta_status set_numbers(hfta_tuner *self, int64_t slot) {
  const hfta_study *study = self->study;
  hfta_status status = hfta_instance_set_horizon(
      self->instance, slot,
      study->rule.units * hfta_tuner_steps_per_epoch(self));
  return status == HFTA_OK
             ? hfta_tuner_set_values(
                   self, slot,
                   hfta_study_values(study, run_of(self, slot)->trial))
             : status;
}

/// Lets those slots run, from `steps` steps on, whose runs haven't left the
/// cohort.
static hfta_status set_live(hfta_tuner *self) {
  int64_t count = 0;
  for (int64_t slot = 0; slot < self->cohort.count; ++slot)
    if (!self->cohort.leaves[slot])
      self->numbers[count++] = (int32_t)slot;
  return count > 0
             ? hfta_instance_set_live(self->instance, self->numbers, count)
             : HFTA_OK;
}

/// Puts all runs of the cohort into slots.
static hfta_status take_up(hfta_tuner *self) {
  const hfta_cohort *cohort = &self->cohort;
  hfta_status status = HFTA_OK;
  for (int64_t slot = 0; slot < cohort->count && status == HFTA_OK; ++slot) {
    self->numbers[slot] = (int32_t)slot;
    status = set_numbers(self, slot);
  }
  // A restart draws the initial weights of all slots with one call.
  if (status == HFTA_OK && cohort->steps == 0)
    status =
        hfta_instance_restart(self->instance, self->numbers, cohort->count);
  for (int64_t slot = 0; slot < cohort->count && status == HFTA_OK; ++slot) {
    self->epoch_losses[slot] = (hfta_epoch_losses){0.0, 0};
    if (cohort->steps > 0)
      status = hfta_tuner_place(self, cohort->runs[slot], slot, cohort->steps);
  }
  if (status == HFTA_OK)
    status = set_live(self);
  return status == HFTA_OK
             ? hfta_instance_set_steps(self->instance, cohort->steps)
             : status;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void stop_feed(hfta_tuner *self) {
  hfta_instance_offer(self->instance, NULL);
  hfta_feed_stop(self->feed);
  self->feed = NULL;
}

/// Returns whether this rank wants to stop.
static bool wants_to_stop(const hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  return (train->should_stop &&
          train->should_stop(train->should_stop_argument)) ||
         (self->most_seconds > 0 &&
          hfta_tuner_seconds(self) >= self->most_seconds);
}

static void add_losses(hfta_tuner *self) {
  const hfta_cohort *cohort = &self->cohort;
  bool begins = cohort->steps % hfta_tuner_steps_per_epoch(self) == 0;
  for (int64_t slot = 0; slot < cohort->count; ++slot) {
    hfta_epoch_losses *own = &self->epoch_losses[slot];
    if (begins)
      *own = (hfta_epoch_losses){0.0, 0};
    if (cohort->leaves[slot])
      continue;
    own->sum += self->losses[slot];
    ++own->steps;
  }
}

static hfta_status run_step(hfta_tuner *self) {
  const void *const *inputs;
  int64_t valid;
  hfta_status status = hfta_feed_next(self->feed, &inputs, &valid, self->error);
  if (status != HFTA_OK)
    return status;
  hfta_feed_offer(self->feed, self->instance);
  status = hfta_team_ask(&self->team, wants_to_stop(self), self->error);
  if (status == HFTA_OK)
    status = hfta_team_hear(
        &self->team, hfta_instance_step(self->instance, inputs, self->losses),
        self->error);
  if (status != HFTA_OK)
    return status;
  add_losses(self);
  ++self->cohort.steps;
  return HFTA_OK;
}

hfta_status hfta_tuner_run_steps(hfta_tuner *self, int64_t end) {
  const hfta_feed_span span = {
      .first = self->cohort.steps, .end = end, .held = 1};
  hfta_instance_take_all_fields(self->instance);
  hfta_status status = hfta_feed_start_training(
      &self->data.train, hfta_instance_reads(self->instance), &span,
      &self->feed, self->error);
  while (status == HFTA_OK && self->cohort.steps < end && !self->stops) {
    status = run_step(self);
    self->stops = hfta_team_is_alone(&self->team) ? wants_to_stop(self)
                                                  : self->team.stops;
  }
  // The memory plan contains the buffers of a single feed, and an evaluation
  // needs another one.
  stop_feed(self);
  return status;
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

/// Lists the slots whose runs are to be evaluated after an epoch, and haven't
/// been before, in `numbers`. Returns their number.
static int64_t list_evaluated(hfta_tuner *self, int64_t epoch) {
  int64_t count = 0;
  for (int64_t slot = 0; slot < self->cohort.count; ++slot) {
    int64_t run = self->cohort.runs[slot];
    if (!self->cohort.leaves[slot] &&
        hfta_study_done_epoch(&self->study->runs[run]) < epoch &&
        hfta_study_next_epoch(self->study, run, epoch - 1) == epoch)
      self->numbers[count++] = (int32_t)slot;
  }
  return count;
}

/// Evaluates the slots in `numbers`, and tells the study.
static hfta_status evaluate(hfta_tuner *self, int64_t epoch, int64_t count,
                            bool *stopped) {
  hfta_status status =
      hfta_instance_set_live(self->instance, self->numbers, count);
  if (status == HFTA_OK)
    status = hfta_tuner_evaluate(self, &self->data.validation,
                                 hfta_team_is_alone(&self->team), stopped);
  if (status != HFTA_OK || *stopped)
    return status;
  for (int64_t i = 0; i < count; ++i) {
    int32_t slot = self->numbers[i];
    const hfta_epoch_losses *losses = &self->epoch_losses[slot];
    self->evaluated[i] = (hfta_evaluated){
        .trial = run_of(self, slot)->trial,
        .fold = self->cohort.fold,
        .epoch = epoch,
        .train_loss =
            losses->steps > 0 ? losses->sum / (double)losses->steps : NAN,
        .loss = self->losses[slot],
        .metric = hfta_program_main_value(self->program, self->metrics, slot)};
  }
  return hfta_study_add(self->study, self->evaluated, count, self->error);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Returns whether a slot's present state is the best one of its run.
static bool is_best(const hfta_tuner *self, int64_t slot) {
  const hfta_run *run = run_of(self, slot);
  return self->study->validation.keeps_best && run->best.level > 0 &&
         hfta_study_steps(self->study, run->trial, run->best.level) ==
             self->cohort.steps;
}

/// Returns whether a slot's state may be held in memory. With a folder, it will
/// be in a file, too, and memory only saves reading it again. All ranks read a
/// file together, so that none of them may have its part in memory alone.
static bool may_hold(const hfta_tuner *self, int64_t slot) {
  static const uint64_t MOST_BYTES = (uint64_t)256 << 20;
  if (!self->folder)
    return true;
  return hfta_team_is_alone(&self->team) &&
         hfta_study_held_bytes(self->study) +
                 hfta_copy_state_bytes(self->instance, slot) <=
             MOST_BYTES;
}

/// Returns whether a run isn't trained further in this cohort: its leg, or the
/// run itself, has ended.
static bool is_through(const hfta_tuner *self, int64_t slot) {
  int64_t run = self->cohort.runs[slot];
  return hfta_study_next_run(self->study, run) != run;
}

/// Takes the state of each slot that is still needed out of it, into memory and
/// the folder, and lets runs leave that are through. `is_last`: all runs leave.
static hfta_status put_away(hfta_tuner *self, bool is_last) {
  hfta_cohort *cohort = &self->cohort;
  hfta_status status = HFTA_OK;
  for (int64_t slot = 0; slot < cohort->count && status == HFTA_OK; ++slot) {
    if (cohort->leaves[slot])
      continue;
    hfta_run *run = run_of(self, slot);
    bool leaves = is_last || is_through(self, slot), best = is_best(self, slot);
    bool holds = (leaves || best) && may_hold(self, slot);
    if (holds)
      status = hfta_tuner_hold(self, slot);
    else if (leaves)
      hfta_held_state_drop(&run->held);
    if (status == HFTA_OK && best && holds) {
      hfta_held_state_drop(&run->best_held);
      run->best_held = hfta_held_state_share(run->held);
    }
    if (status == HFTA_OK && self->folder)
      status = hfta_trial_files_save(self->folder, self->study, self->instance,
                                     cohort->runs[slot], slot, cohort->steps,
                                     best, self->epoch_losses);
  }
  return status;
}

int64_t hfta_tuner_best_file(const hfta_tuner *self, int64_t run) {
  const hfta_run *one = &self->study->runs[run];
  return self->study->validation.keeps_best && one->best.level > 0
             ? hfta_study_steps(self->study, one->trial, one->best.level)
             : -1;
}

/// Removes the files that what has just been saved makes unnecessary.
static void prune(hfta_tuner *self, int64_t slot) {
  bool removes = hfta_team_leads(&self->team);
  int64_t run = self->cohort.runs[slot], origin = run_of(self, slot)->origin;
  hfta_trial_files_prune(self->folder, self->study, run,
                         hfta_tuner_best_file(self, run), removes);
  if (origin >= 0)
    hfta_trial_files_prune(self->folder, self->study, origin,
                           hfta_tuner_best_file(self, origin), removes);
}

/// Syncs the journal once all files are there, and only then removes older
/// files. `is_last`: all runs leave the cohort.
static hfta_status save(hfta_tuner *self, bool is_last) {
  hfta_cohort *cohort = &self->cohort;
  hfta_status status = put_away(self, is_last);
  // The folder's entries must be there before the journal's lines.
  if (status == HFTA_OK && self->folder && hfta_team_leads(&self->team))
    status = hfta_folder_sync(self->folder, self->error);
  if (status == HFTA_OK)
    status = hfta_journal_sync(self->journal, self->error);
  if (status == HFTA_OK)
    status = hfta_tuner_save_seconds(self);
  for (int64_t slot = 0; slot < cohort->count && status == HFTA_OK; ++slot) {
    if (cohort->leaves[slot])
      continue;
    if (self->folder && !is_last)
      prune(self, slot);
    if (is_last || is_through(self, slot)) {
      cohort->leaves[slot] = true;
      ++cohort->left;
    }
  }
  return status;
}

/// Returns the next epoch after which a run of the cohort is to be evaluated.
/// It may have ended already: then a state was saved, but not evaluated.
static int64_t find_next_epoch(const hfta_tuner *self) {
  const hfta_study *study = self->study;
  int64_t per_epoch = hfta_tuner_steps_per_epoch(self);
  int64_t done = self->cohort.steps / per_epoch;
  bool is_between = self->cohort.steps % per_epoch == 0;
  int64_t next = INT64_MAX;
  for (int64_t slot = 0; slot < self->cohort.count; ++slot) {
    int64_t run = self->cohort.runs[slot];
    if (self->cohort.leaves[slot])
      continue;
    bool is_missing = is_between &&
                      hfta_study_done_epoch(&study->runs[run]) < done &&
                      hfta_study_next_epoch(study, run, done - 1) == done;
    int64_t own = is_missing ? done : hfta_study_next_epoch(study, run, done);
    next = own < next ? own : next;
  }
  return next;
}

/// Follows requests, which may stop or pause runs of the cohort, or change
/// their settings.
static hfta_status follow_requests(hfta_tuner *self) {
  hfta_cohort *cohort = &self->cohort;
  if (!self->is_controlled)
    return HFTA_OK;
  hfta_status status = hfta_tuner_steer(self, 0);
  for (int64_t slot = 0; slot < cohort->count && status == HFTA_OK; ++slot) {
    if (cohort->leaves[slot])
      continue;
    if (!is_through(self, slot)) {
      status = set_numbers(self, slot);
      continue;
    }
    status = hfta_tuner_hold(self, slot);
    cohort->leaves[slot] = true;
    ++cohort->left;
  }
  return status;
}

/// Trains up to the next evaluation, and evaluates.
static hfta_status go_on(hfta_tuner *self) {
  int64_t epoch = find_next_epoch(self);
  int64_t before = self->cohort.steps;
  int64_t end = epoch * hfta_tuner_steps_per_epoch(self);
  hfta_status status = set_live(self);
  if (status == HFTA_OK && before < end)
    status = hfta_tuner_run_steps(self, end);
  if (status != HFTA_OK)
    return status;
  int64_t live = self->cohort.count - self->cohort.left;
  self->result->trained_steps += (self->cohort.steps - before) * live;
  bool stopped = self->stops;
  int64_t count =
      !stopped && self->cohort.steps == end ? list_evaluated(self, epoch) : 0;
  if (count > 0)
    status = evaluate(self, epoch, count, &stopped);
  self->stops |= stopped;
  if (status == HFTA_OK)
    status = save(self, stopped);
  // The study decides as soon as it can, so that a resumed search says
  // everything in the same order.
  if (status == HFTA_OK)
    status = hfta_study_advance(self->study, self->error);
  if (status == HFTA_OK)
    status = hfta_tuner_publish(self);
  return status == HFTA_OK && !self->stops ? follow_requests(self) : status;
}

hfta_status hfta_tuner_train_cohort(hfta_tuner *self) {
  hfta_status status = hfta_tuner_use_array(self, self->cohort.array);
  if (status == HFTA_OK)
    status = hfta_tuner_divide(self, self->cohort.fold);
  if (status == HFTA_OK)
    status = take_up(self);
  while (status == HFTA_OK && !self->stops &&
         self->cohort.left < self->cohort.count)
    status = go_on(self);
  return status;
}
