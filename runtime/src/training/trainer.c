//===- trainer.c - The training loop --------------------------------------===//

#include "training/trainer_parts.h"

#include "fleet/fleet.h"
#include "instance/instance_impl.h"
#include "instance/share_state.h"
#include "schedule/ahead.h"
#include "system/clock.h"
#include "training/evaluate.h"

#include <math.h>
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
  hfta_status status = hfta_checkpoint_write(
      self->instance, options->checkpoint, self->epoch_losses);
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

/// Computes the mean of each copy's losses since the beginning of the epoch.
static void find_train_losses(hfta_trainer *self) {
  for (int64_t copy = 0; copy < self->program->copies; ++copy) {
    const hfta_epoch_losses *losses = &self->epoch_losses[copy];
    self->result->train_losses[copy] =
        losses->steps > 0 ? losses->sum / (double)losses->steps : NAN;
  }
}

static hfta_status evaluate(hfta_trainer *self, bool *stopped) {
  size_t copies = (size_t)self->program->copies;
  hfta_train_result *result = self->result;
  if (!result->eval_losses)
    result->eval_losses = calloc(copies, sizeof(double));
  if (!result->eval_metrics && *self->program->metric)
    result->eval_metrics = calloc(copies, sizeof(double));
  if (!result->eval_losses || (*self->program->metric && !result->eval_metrics))
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for %zu copies' results", copies);
  if (self->parts)
    return hfta_trainer_evaluate_parts(self, stopped);
  *stopped = !hfta_fleet_begin(self->options->model, HFTA_UNIT_EVALUATION);
  if (*stopped)
    return HFTA_OK;
  hfta_status status = hfta_evaluate_dataset(
      self->instance, &self->test, result->eval_losses, result->eval_metrics,
      hfta_team_is_alone(&self->team) ? self->options->should_stop : NULL,
      self->options->should_stop_argument, stopped);
  hfta_fleet_pass(self->options->model, 0);
  return status;
}

/// Evaluates, writes the epoch event if `log`, and shows progress, after the
/// last step of an epoch or of the training.
static hfta_status finish_epoch(hfta_trainer *self, int64_t step, int64_t epoch,
                                bool log) {
  hfta_train_result *result = self->result;
  double seconds = hfta_now() - self->epoch_begin;
  bool stopped = false;
  hfta_status status = HFTA_OK;
  find_train_losses(self);
  if (self->evaluates) {
    // The memory plan contains the buffers of a single feed. The next step
    // starts the training's feed again.
    hfta_trainer_stop_feed(&self->feeding);
    status = evaluate(self, &stopped);
  }
  if (stopped)
    result->interrupted = true;
  if (status != HFTA_OK || stopped)
    return status;
  if (log)
    status = hfta_trainer_after_logging(
        self, hfta_log_epoch(self->log, epoch, result->train_losses,
                             result->eval_losses, result->eval_metrics, seconds,
                             self->error));
  if (status == HFTA_OK && log)
    hfta_progress_epoch(&self->progress, step, epoch, result->train_losses,
                        result->eval_losses, result->eval_metrics);
  self->epoch_begin = hfta_now();
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

/// Evaluates after the last step of an earlier run, if that run was interrupted
/// before it logged the evaluation, or if the training is already complete, so
/// that its results are returned.
static hfta_status finish_earlier_epoch(hfta_trainer *self) {
  bool lacks_epoch = hfta_log_lacks_epoch(self->log);
  int64_t step = self->first_step;
  // Only the first rank has the log, so it shares what it knows.
  hfta_status status =
      hfta_share_bytes(self->team.communicator, "missing lines of the log",
                       &lacks_epoch, sizeof(lacks_epoch), self->error);
  if (status != HFTA_OK)
    return status;
  if (!lacks_epoch && step < self->total_steps)
    return HFTA_OK;
  return finish_epoch(self, step, hfta_trainer_epoch(self, step), lacks_epoch);
}

static hfta_status run_steps(hfta_trainer *self) {
  int64_t step = self->first_step;
  self->epoch_begin = hfta_now();
  hfta_status status = finish_earlier_epoch(self);
  if (self->trace)
    hfta_instance_observe(self->instance, hfta_trace_observer(self->trace));
  while (step < self->total_steps && status == HFTA_OK &&
         !self->result->interrupted) {
    int64_t before = step;
    status = take_turn(self, &step);
    bool last = step == self->total_steps;
    bool ends = last || step % self->steps_per_epoch == 0;
    if (status == HFTA_OK && ends && step > before)
      status = finish_epoch(self, step, hfta_trainer_epoch(self, step), true);
    bool stops = hfta_team_is_alone(&self->team)
                     ? hfta_trainer_should_stop(self)
                     : self->team.stops;
    if (!last && stops)
      self->result->interrupted = true;
    if (status == HFTA_OK)
      status = write_trace(self, false);
    bool due = last || self->result->interrupted ||
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
  find_train_losses(self);
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
  self->progress.state.live = hfta_instance_live(self->instance);
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
  hfta_trainer_close_parts(&self);
  if (self.trace)
    hfta_instance_observe(instance, NULL);
  hfta_trace_close(self.trace);
  hfta_log_close(self.log);
  hfta_folder_unlock(&self.lock);
  hfta_training_data_close(&self.data);
  hfta_dataset_close(&self.test);
  free(self.losses);
  free(self.epoch_losses);
  free(self.rates);
  free(self.dampings);
  free(self.reports);
  return status;
}

void hfta_train_result_free(hfta_train_result *result) {
  free(result->train_losses);
  free(result->skipped_statistics);
  free(result->retried_inverses);
  free(result->kept_inverses);
  free(result->eval_losses);
  free(result->eval_metrics);
  memset(result, 0, sizeof(*result));
}
