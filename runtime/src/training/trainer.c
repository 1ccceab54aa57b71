//===- trainer.c - The training loop --------------------------------------===//

#include "training/trainer_parts.h"

#include "fleet/fleet.h"
#include "instance/instance_impl.h"
#include "schedule/ahead.h"
#include "system/clock.h"

#include <stdlib.h>
#include <string.h>

/// Returns the postponed failure, if there is one; its message is combined with
/// that of `status` if that failed too.
static hfta_status take_failure(hfta_trainer *self, hfta_status status) {
  const hfta_error *first = &self->failure;
  if (first->code == HFTA_OK)
    return status;
  if (status == HFTA_OK)
    *self->error = *first;
  else
    hfta_fail(self->error, first->code, "%s; %s", first->message,
              self->error->message);
  return first->code;
}

static hfta_status save_checkpoint(hfta_trainer *self, int64_t step) {
  const hfta_train_options *options = self->options;
  bool leads = hfta_team_leads(&self->team);
  if (!options->checkpoint || self->saved_step == step ||
      !(leads || hfta_checkpoint_is_spread(self->instance)))
    return HFTA_OK;
  const hfta_checkpoint_addition addition = {hfta_trainer_save_standings, self};
  hfta_status status = hfta_checkpoint_write(
      self->instance, options->checkpoint, self->epoch_losses,
      self->keeps_best ? &self->best : NULL, self->follows ? &addition : NULL);
  self->can_save = status == HFTA_OK;
  if (status != HFTA_OK)
    return status;
  self->saved_step = step;
  if (leads && options->keep > 0 &&
      hfta_checkpoint_prune(options->checkpoint, step, options->keep,
                            self->error) != HFTA_OK)
    hfta_trainer_note_leftover(self);
  return HFTA_OK;
}

/// Saves the steps done, after a failure, and keeps the failure's message. A
/// checkpoint with parts on other ranks can't be saved, because the other ranks
/// don't take part: they are running the next step.
static void save_what_is_done(hfta_trainer *self) {
  hfta_error reason = *self->error;
  int64_t step = hfta_instance_steps(self->instance);
  if (!self->can_save || step == self->first_step ||
      hfta_checkpoint_is_spread(self->instance))
    return;
  if (save_checkpoint(self, step) == HFTA_OK)
    *self->error = reason;
  else
    hfta_fail(self->error, reason.code, "%s; %s", reason.message,
              self->error->message);
}

/// Writes the trace once: when it is complete, or if the training ends before
/// that.
static hfta_status write_trace(hfta_trainer *self, bool is_last) {
  if (!self->trace || (!is_last && !hfta_trace_is_complete(self->trace)))
    return HFTA_OK;
  int64_t dropped;
  hfta_instance_observe(self->instance, NULL);
  if (!hfta_trace_is_complete(self->trace))
    hfta_trainer_stop_feed(&self->feeding); // the feed's thread may be
                                            // recording
  hfta_status status = hfta_trace_finish(self->trace, &dropped, self->error);
  if (dropped > 0)
    hfta_progress_note(&self->progress,
                       "note: the trace lacks %lld events: it has no room for "
                       "so many steps",
                       (long long)dropped);
  return status;
}

static hfta_status run_step(hfta_trainer *self, int64_t step) {
  const void *const *inputs;
  hfta_status status = hfta_trainer_begin_step(self, step, &inputs);
  if (status != HFTA_OK)
    return status;
  hfta_trace_begin_step(self->trace);
  status = hfta_instance_step(self->instance, inputs, self->losses);
  if (status != HFTA_OK)
    return status;
  hfta_trace_end_step(self->trace);
  self->can_save = true;
  return hfta_trainer_finish_step(self, step, self->losses);
}

/// Runs a window of up to `steps` steps after step number `*step`, turn by
/// turn. `*step` becomes the number of the last step done.
static hfta_status run_window(hfta_trainer *self, int64_t steps,
                              int64_t *step) {
  self->can_save = false;
  hfta_status status = hfta_trainer_run_window(self, &steps);
  self->can_save = status == HFTA_OK;
  for (int64_t i = 0; i < steps && status == HFTA_OK; ++i)
    status = hfta_trainer_finish_step(self, ++*step,
                                      self->losses + i * self->program->copies);
  return status;
}

/// Runs one or several steps after step number `*step`, which becomes the
/// number of the last step done.
static hfta_status go_on(hfta_trainer *self, int64_t *step) {
  int64_t steps = hfta_trainer_window_steps(self, *step);
  if (steps > 1 && hfta_instance_runs_ahead(self->instance))
    return hfta_trainer_run_ahead(self, steps, step);
  if (steps > 1 || self->parts)
    return run_window(self, steps, step);
  ++*step;
  return run_step(self, *step);
}

/// Runs steps as go_on does. Before, waits for a seat, and exchanges with the
/// other ranks whether to stop. If the training is to stop before it gets a
/// seat, runs no step.
static hfta_status take_turn(hfta_trainer *self, int64_t *step) {
  struct hfta_fleet_model *model = self->options->model;
  int64_t before = *step;
  if (self->parts)
    return go_on(self, step);
  if (!hfta_fleet_begin(model, HFTA_UNIT_STEPS))
    return HFTA_OK;
  hfta_status status =
      hfta_team_ask(&self->team, hfta_trainer_should_stop(self), self->error);
  if (status == HFTA_OK)
    status = hfta_team_hear(&self->team, go_on(self, step), self->error);
  hfta_fleet_pass(model, *step - before);
  return status;
}

/// Evaluates what an earlier run has left. If that has changed which weights
/// are best, the checkpoint from which the training continues is replaced by
/// one that has them, as the earlier run would have saved it.
static hfta_status finish_earlier_epoch(hfta_trainer *self) {
  int64_t evaluated_step = self->standings.evaluated_step;
  hfta_status status = hfta_trainer_finish_earlier_epoch(self);
  if (status != HFTA_OK || !self->keeps_best ||
      self->standings.evaluated_step == evaluated_step)
    return status;
  hfta_fleet_stand_up(self->options->model);
  self->saved_step = -1;
  return save_checkpoint(self, self->first_step);
}

static bool is_stopped(const hfta_trainer *self) {
  return self->result->interrupted || self->result->out_of_time;
}

/// Notes why the training ends after a step, if it `stops` before it is
/// complete.
static void note_stop(hfta_trainer *self, int64_t step, bool stops) {
  if (!stops || hfta_trainer_is_complete(self, step))
    return;
  bool is_asked = self->failure.code != HFTA_OK ||
                  hfta_trainer_is_asked_to_stop(self) ||
                  !hfta_trainer_is_out_of_time(self);
  if (is_asked)
    self->result->interrupted = true;
  else if (!self->result->interrupted)
    self->result->out_of_time = true;
}

static hfta_status run_steps(hfta_trainer *self) {
  int64_t step = self->first_step;
  self->epoch_begin = self->clock = hfta_now();
  hfta_status status = finish_earlier_epoch(self);
  if (self->trace)
    hfta_instance_observe(self->instance, hfta_trace_observer(self->trace));
  // A training that goes on may have no time left.
  if (status == HFTA_OK && !self->result->interrupted)
    note_stop(self, step, hfta_trainer_is_out_of_time(self));
  while (!hfta_trainer_is_complete(self, step) && status == HFTA_OK &&
         !is_stopped(self)) {
    int64_t before = step;
    status = take_turn(self, &step);
    bool ends = step == self->total_steps || step % self->steps_per_epoch == 0;
    if (status == HFTA_OK && ends && step > before)
      status = hfta_trainer_finish_epoch(self, step, true);
    bool last = hfta_trainer_is_complete(self, step);
    bool stops = hfta_team_is_alone(&self->team)
                     ? hfta_trainer_should_stop(self)
                     : self->team.stops;
    note_stop(self, step, stops);
    if (status == HFTA_OK)
      status = write_trace(self, false);
    bool due = last || is_stopped(self) ||
               (self->options->every > 0 && step % self->options->every == 0);
    if (status == HFTA_OK && due && step > self->first_step) {
      hfta_fleet_stand_up(self->options->model);
      status = save_checkpoint(self, step);
    }
  }
  if (status == HFTA_OK)
    status = write_trace(self, true);
  status = take_failure(self, status);
  hfta_fleet_stand_up(self->options->model);
  if (status != HFTA_OK)
    save_what_is_done(self);
  self->result->steps = hfta_instance_steps(self->instance);
  hfta_trainer_find_train_losses(self);
  return status;
}

static hfta_status train(hfta_trainer *self) {
  const hfta_train_options *options = self->options;
  hfta_status status = hfta_trainer_prepare(self);
  if (status != HFTA_OK)
    return status;
  bool shows_progress = options->progress && hfta_team_leads(&self->team);
  hfta_progress_begin(&self->progress, self->program, shows_progress,
                      self->first_step, self->total_steps,
                      options->log_every ? options->log_every
                                         : HFTA_DEFAULT_LOG_EVERY);
  self->progress.state.live =
      self->follows ? self->runs : hfta_instance_live(self->instance);
  hfta_progress_join(&self->progress, options->screen, options->screen_block);
  hfta_trainer_announce(self);
  hfta_fleet_expect(options->model, self->first_step,
                    self->total_steps - self->first_step);
  hfta_trainer_expect_parts(self);
  status = hfta_trainer_begin(self);
  if (status == HFTA_OK)
    status = run_steps(self);
  hfta_progress_end(&self->progress);
  // The other ranks wait until the first rank has saved.
  if (status == HFTA_OK)
    status = hfta_team_meet(&self->team, self->error);
  self->result->saved =
      self->saved_step >= 0 && self->saved_step == self->result->steps;
  return status;
}

hfta_status hfta_train(hfta_instance *instance,
                       const hfta_train_options *options,
                       hfta_train_result *result) {
  memset(result, 0, sizeof(*result));
  hfta_trainer self = {
      .instance = instance,
      .program = hfta_instance_program(instance),
      .options = options,
      .result = result,
      .lock = {.descriptor = -1},
      .team = {.communicator = hfta_instance_communicator(instance)},
      .feeding = {.instance = instance},
      .saved_step = -1,
      .can_save = true,
      .error = hfta_instance_error(instance)};
  hfta_status status = train(&self);
  hfta_trainer_stop_feed(&self.feeding);
  hfta_status chosen = hfta_trainer_choose_all(&self);
  if (status == HFTA_OK)
    status = chosen;
  hfta_trainer_close_parts(&self);
  if (self.trace)
    hfta_instance_observe(instance, NULL);
  hfta_trace_close(self.trace);
  hfta_log_close(self.log);
  hfta_folder_unlock(&self.lock);
  hfta_training_data_close(&self.data);
  hfta_dataset_close(&self.test);
  hfta_standings_close(&self.standings);
  hfta_plateaus_close(&self.plateaus);
  hfta_best_weights_close(&self.best);
  hfta_averages_close(&self.averages);
  free(self.chosen);
  free(self.runs);
  free(self.losses);
  free(self.epoch_losses);
  free(self.rates);
  free(self.scheduled);
  free(self.reports);
  free(self.terms);
  return status;
}

void hfta_train_result_free(hfta_train_result *result) {
  free(result->train_losses);
  free(result->skipped_statistics);
  free(result->retried_inverses);
  free(result->kept_inverses);
  free(result->best_steps);
  free(result->best_losses);
  free(result->best_metrics);
  free(result->validation_losses);
  free(result->validation_metrics);
  free(result->eval_losses);
  free(result->eval_metrics);
  free(result->average_validation_losses);
  free(result->average_validation_metrics);
  free(result->average_eval_losses);
  free(result->average_eval_metrics);
  memset(result, 0, sizeof(*result));
}
