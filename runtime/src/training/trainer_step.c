//===- trainer_step.c - What surrounds each step of a training ------------===//

#include "training/trainer_impl.h"

int64_t hfta_trainer_epoch(const hfta_trainer *self, int64_t step) {
  return (step - 1) / self->steps_per_epoch + 1;
}

int64_t hfta_trainer_log_every(const hfta_trainer *self) {
  int64_t every = self->options->log_every;
  return every ? every : HFTA_DEFAULT_LOG_EVERY;
}

bool hfta_trainer_is_asked_to_stop(const hfta_trainer *self) {
  const hfta_train_options *options = self->options;
  return options->should_stop &&
         options->should_stop(options->should_stop_argument);
}

bool hfta_trainer_should_stop(const hfta_trainer *self) {
  return self->failure.code != HFTA_OK || hfta_trainer_is_out_of_time(self) ||
         hfta_trainer_is_asked_to_stop(self);
}

/// Returns whether a checkpoint of the steps done in this run needs parts of
/// other ranks. These are already running the next step, so saving must wait
/// for its end.
static bool needs_help(const hfta_trainer *self) {
  return self->options->checkpoint &&
         hfta_instance_steps(self->instance) > self->first_step &&
         hfta_checkpoint_is_spread(self->instance);
}

hfta_status hfta_trainer_after_logging(hfta_trainer *self, hfta_status status) {
  if (status == HFTA_OK)
    return status;
  if (hfta_log_is_abandoned(self->log) && hfta_trainer_should_stop(self)) {
    // If there are several ranks, they stop together once all have received
    // this rank's request.
    self->result->interrupted = hfta_team_is_alone(&self->team);
    return HFTA_OK;
  }
  if (!needs_help(self))
    return status;
  if (self->failure.code == HFTA_OK)
    self->failure = *self->error;
  return HFTA_OK;
}

void hfta_trainer_add_losses(hfta_trainer *self, int64_t step,
                             const double *losses) {
  bool begins_epoch = (step - 1) % self->steps_per_epoch == 0;
  const bool *live = hfta_instance_live(self->instance);
  for (int64_t copy = 0; copy < self->program->copies; ++copy) {
    hfta_epoch_losses *own = &self->epoch_losses[copy];
    // A copy that has stopped keeps the losses of its last epoch.
    if (begins_epoch &&
        !(self->follows && self->standings.stopped_after[copy] > 0))
      *own = (hfta_epoch_losses){0.0, 0};
    if (!live[copy])
      continue;
    own->sum += losses[copy];
    ++own->steps;
  }
}

hfta_status hfta_trainer_finish_step(hfta_trainer *self, int64_t step,
                                     const double *losses) {
  int64_t epoch = hfta_trainer_epoch(self, step);
  hfta_trainer_add_losses(self, step, losses);
  hfta_status status =
      hfta_trainer_after_logging(self, hfta_trainer_take_reports(self, step));
  if (status == HFTA_OK && (step == 1 || step == self->total_steps ||
                            step % hfta_trainer_log_every(self) == 0))
    status = hfta_trainer_after_logging(
        self,
        hfta_log_step(self->log, step, epoch, losses, self->terms, self->rates,
                      self->scheduled, self->reports, self->error));
  hfta_progress_step(&self->progress, step, epoch, losses);
  return status;
}

hfta_status hfta_trainer_begin_step(hfta_trainer *self, int64_t step,
                                    const void *const **inputs) {
  hfta_status status =
      hfta_trainer_take_batch(self, &self->feeding, step, inputs);
  if (status == HFTA_OK)
    status = hfta_trainer_take_rates(self, self->instance);
  if (status != HFTA_OK)
    return status;
  self->can_save = false;
  hfta_feed_offer(self->feeding.feed, self->instance);
  return HFTA_OK;
}
