//===- trainer_best.c - The best weights of copies ------------------------===//

#include "instance/share_state.h"
#include "training/trainer_impl.h"

#include <stdlib.h>
#include <string.h>

hfta_status hfta_trainer_open_best(hfta_trainer *self) {
  return self->keeps_best
             ? hfta_best_weights_open(&self->best, self->instance, self->error)
             : HFTA_OK;
}

hfta_status hfta_trainer_check_best(hfta_trainer *self) {
  const char *folder = self->options->checkpoint;
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  for (int64_t copy = 0; self->keeps_best && copy < self->program->copies;
       ++copy) {
    int64_t kept = self->best.steps[copy];
    int64_t expected = self->standings.best_steps[copy];
    if (kept == expected)
      continue;
    hfta_checkpoint_name(self->saved_step, name);
    return kept > 0
               ? hfta_fail(self->error, HFTA_INVALID_INPUT,
                           "'%s/%s/training.safetensors' is missing, or "
                           "doesn't belong to best-%04lld.safetensors",
                           folder, name, (long long)copy)
               : hfta_fail(self->error, HFTA_INVALID_INPUT,
                           "'%s/%s' was saved by a training without 'keep "
                           "best': the best weights of copy %lld, those of "
                           "step %lld, are lost",
                           folder, name, (long long)copy, (long long)expected);
  }
  return HFTA_OK;
}

/// Sends the first rank's scores to all ranks, so that they agree on the best
/// ones.
static hfta_status share_scores(hfta_trainer *self) {
  hfta_train_result *result = self->result;
  double *arrays[] = {result->validation_losses, result->validation_metrics};
  const uint64_t rows[] = {1, self->program->metric_count};
  hfta_status status = HFTA_OK;
  for (int i = 0; i < 2 && status == HFTA_OK; ++i)
    if (arrays[i])
      status = hfta_share_bytes(
          self->team.communicator, "scores of copies", arrays[i],
          sizeof(double) * rows[i] * (uint64_t)self->program->copies,
          self->error);
  return status;
}

hfta_status hfta_trainer_note_scores(hfta_trainer *self, int64_t step) {
  const hfta_train_result *result = self->result;
  // The last step of a training is evaluated even where no evaluation is due.
  // Such an evaluation doesn't count, since a longer training has none there.
  if (!self->follows || !hfta_trainer_is_due(self, step))
    return HFTA_OK;
  hfta_status status = self->keeps_best || self->plateaus.count > 0
                           ? share_scores(self)
                           : HFTA_OK;
  if (status == HFTA_OK && step > self->standings.evaluated_step) {
    hfta_plateaus_note(&self->plateaus, self->instance, self->runs,
                       result->validation_losses, result->validation_metrics);
    hfta_plateaus_apply(&self->plateaus, self->instance);
  }
  if (status == HFTA_OK)
    hfta_standings_note(&self->standings, &self->program->validation, step,
                        self->runs, result->validation_losses,
                        result->validation_metrics);
  // A copy whose new weights are incomplete can't be saved.
  bool can_save = self->can_save;
  self->can_save = false;
  for (int64_t copy = 0;
       status == HFTA_OK && self->keeps_best && copy < self->program->copies;
       ++copy)
    if (self->standings.best_steps[copy] > self->best.steps[copy])
      status = hfta_best_weights_take(&self->best, copy, step);
  self->can_save = can_save && status == HFTA_OK;
  return status;
}

hfta_status hfta_trainer_with_best(hfta_trainer *self,
                                   hfta_status (*evaluate)(hfta_trainer *self,
                                                           bool *stopped),
                                   bool *stopped) {
  size_t bytes = sizeof(int64_t) * (size_t)self->program->copies;
  if (!self->result->best_steps)
    self->result->best_steps = malloc(bytes);
  if (!self->result->best_steps)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for %lld copies' results",
                     (long long)self->program->copies);
  memcpy(self->result->best_steps, self->best.steps, bytes);
  hfta_status status = hfta_trainer_choose_all(self);
  if (status != HFTA_OK)
    return status;
  // Until the instance has the weights of its last step again, nothing can be
  // saved.
  bool can_save = self->can_save;
  self->can_save = false;
  status = hfta_best_weights_exchange(&self->best);
  if (status != HFTA_OK)
    return status;
  status = evaluate(self, stopped);
  hfta_error reason = *self->error;
  hfta_status restored = hfta_best_weights_exchange(&self->best);
  self->can_save = can_save && restored == HFTA_OK;
  if (status == HFTA_OK)
    return restored;
  *self->error = reason;
  return status;
}

void hfta_trainer_announce_best(hfta_trainer *self) {
  const int64_t *steps = self->result->best_steps;
  int64_t least = INT64_MAX, most = 0, without = 0;
  for (int64_t copy = 0; copy < self->program->copies; ++copy) {
    if (!self->chosen[copy])
      continue;
    without += steps[copy] == 0;
    most = steps[copy] > most ? steps[copy] : most;
    if (steps[copy] > 0 && steps[copy] < least)
      least = steps[copy];
  }
  if (most > 0)
    hfta_progress_note(&self->progress,
                       "results are those of each copy's best weights, after "
                       "%lld to %lld steps",
                       (long long)least, (long long)most);
  if (without > 0)
    hfta_progress_note(&self->progress,
                       "copies without a finite score, whose results are those "
                       "of their last weights: %lld",
                       (long long)without);
}
