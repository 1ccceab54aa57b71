//===- trainer_evaluate.c - Evaluations of a training ---------------------===//

#include "training/trainer_parts.h"

#include "fleet/fleet.h"
#include "instance/share_state.h"
#include "system/clock.h"
#include "training/evaluate.h"

#include <math.h>
#include <stdlib.h>

void hfta_trainer_find_train_losses(hfta_trainer *self) {
  for (int64_t copy = 0; copy < self->program->copies; ++copy) {
    const hfta_epoch_losses *losses = &self->epoch_losses[copy];
    self->result->train_losses[copy] =
        losses->steps > 0 ? losses->sum / (double)losses->steps : NAN;
  }
}

/// Allocates the arrays for the results on some data, unless they are there.
static hfta_status allocate(hfta_trainer *self, double **losses,
                            double **metrics) {
  size_t copies = (size_t)self->program->copies;
  bool has_metric = *self->program->metric != 0;
  if (!*losses)
    *losses = calloc(copies, sizeof(double));
  if (!*metrics && has_metric)
    *metrics = calloc(copies, sizeof(double));
  return *losses && (*metrics || !has_metric)
             ? HFTA_OK
             : hfta_fail(self->error, HFTA_UNSUPPORTED,
                         "not enough memory for %zu copies' results", copies);
}

/// Evaluates the data set into the arrays, which are allocated if they are
/// NULL.
static hfta_status evaluate(hfta_trainer *self, const hfta_dataset *dataset,
                            double **losses, double **metrics, bool *stopped) {
  hfta_status status = allocate(self, losses, metrics);
  if (status != HFTA_OK)
    return status;
  // The memory plan contains the buffers of a single feed. The next step starts
  // the training's feed again.
  hfta_trainer_stop_feed(&self->feeding);
  if (self->parts)
    return hfta_trainer_evaluate_parts(self, dataset, *losses, *metrics,
                                       stopped);
  *stopped = !hfta_fleet_begin(self->options->model, HFTA_UNIT_EVALUATION);
  if (*stopped)
    return HFTA_OK;
  status = hfta_evaluate_dataset(
      self->instance, dataset, *losses, *metrics,
      hfta_team_is_alone(&self->team) ? self->options->should_stop : NULL,
      self->options->should_stop_argument, stopped);
  hfta_fleet_pass(self->options->model, 0);
  return status;
}

/// Returns whether the validation data are evaluated after a step that ends an
/// epoch or the training.
static bool is_validated(const hfta_trainer *self, int64_t step) {
  int64_t every = self->program->validation.every;
  if (!self->validates)
    return false;
  return step == self->total_steps || every <= 1 ||
         hfta_trainer_epoch(self, step) % every == 0;
}

/// Evaluates the data that are due after a step, and notes them in `out`.
static hfta_status evaluate_due(hfta_trainer *self, int64_t step,
                                hfta_epoch_results *out, bool *stopped) {
  hfta_train_result *result = self->result;
  hfta_status status = HFTA_OK;
  if (is_validated(self, step)) {
    status = evaluate(self, &self->data.validation, &result->validation_losses,
                      &result->validation_metrics, stopped);
    out->validation_losses = result->validation_losses;
    out->validation_metrics = result->validation_metrics;
  }
  bool is_tested =
      self->tests && (!self->validates || step == self->total_steps);
  if (status == HFTA_OK && !*stopped && is_tested) {
    status = evaluate(self, &self->test, &result->eval_losses,
                      &result->eval_metrics, stopped);
    out->eval_losses = result->eval_losses;
    out->eval_metrics = result->eval_metrics;
  }
  return status;
}

hfta_status hfta_trainer_finish_epoch(hfta_trainer *self, int64_t step,
                                      bool log) {
  hfta_epoch_results results = {.epoch = hfta_trainer_epoch(self, step),
                                .seconds = hfta_now() - self->epoch_begin,
                                .train_losses = self->result->train_losses};
  bool stopped = false;
  hfta_trainer_find_train_losses(self);
  hfta_status status = evaluate_due(self, step, &results, &stopped);
  if (stopped)
    self->result->interrupted = true;
  if (status != HFTA_OK || stopped)
    return status;
  if (log)
    status = hfta_trainer_after_logging(
        self, hfta_log_epoch(self->log, &results, self->error));
  if (status == HFTA_OK && log)
    hfta_progress_epoch(&self->progress, step, &results);
  self->epoch_begin = hfta_now();
  return status;
}

hfta_status hfta_trainer_finish_earlier_epoch(hfta_trainer *self) {
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
  return hfta_trainer_finish_epoch(self, step, lacks_epoch);
}
