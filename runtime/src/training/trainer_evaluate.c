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
  bool has_metric = self->program->metric_count > 0;
  if (!*losses)
    *losses = hfta_allocate_losses(self->program);
  if (!*metrics && has_metric)
    *metrics = hfta_allocate_metrics(self->program);
  return *losses && (*metrics || !has_metric)
             ? HFTA_OK
             : hfta_fail(self->error, HFTA_UNSUPPORTED,
                         "not enough memory for %lld copies' results",
                         (long long)self->program->copies);
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
  if (self->parts) {
    status =
        hfta_trainer_evaluate_parts(self, dataset, *losses, *metrics, stopped);
    hfta_take_details(self->instance, *losses, *metrics);
    return status;
  }
  *stopped = !hfta_fleet_begin(self->options->model, HFTA_UNIT_EVALUATION);
  if (*stopped)
    return HFTA_OK;
  status = hfta_evaluate_dataset(
      self->instance, dataset, *losses, *metrics,
      hfta_team_is_alone(&self->team) ? self->options->should_stop : NULL,
      self->options->should_stop_argument, stopped);
  hfta_take_details(self->instance, *losses, *metrics);
  hfta_fleet_pass(self->options->model, 0);
  return status;
}

/// Evaluates the validation data. If the training is complete, results are
/// those of all copies, also of those that have stopped before, unless all
/// copies' best weights are evaluated next.
static hfta_status validate(hfta_trainer *self, int64_t step, bool is_complete,
                            bool *stopped) {
  hfta_train_result *result = self->result;
  hfta_status status = is_complete && !self->keeps_best
                           ? hfta_trainer_choose_all(self)
                           : HFTA_OK;
  if (status == HFTA_OK)
    status = evaluate(self, &self->data.validation, &result->validation_losses,
                      &result->validation_metrics, stopped);
  if (status != HFTA_OK || *stopped)
    return status;
  status = hfta_trainer_note_scores(self, step);
  // If this evaluation has ended the training, because no copy goes on, it is
  // repeated for all copies.
  return status != HFTA_OK || is_complete || self->keeps_best ||
                 !hfta_trainer_is_complete(self, step)
             ? status
             : validate(self, step, /*is_complete=*/true, stopped);
}

static hfta_status test(hfta_trainer *self, bool *stopped) {
  hfta_train_result *result = self->result;
  return evaluate(self, &self->test, &result->eval_losses,
                  &result->eval_metrics, stopped);
}

/// Evaluates best weights. As the last evaluations of copies were those of
/// other weights, the validation data are evaluated again.
static hfta_status test_best(hfta_trainer *self, bool *stopped) {
  hfta_train_result *result = self->result;
  hfta_status status =
      evaluate(self, &self->data.validation, &result->best_losses,
               &result->best_metrics, stopped);
  return status == HFTA_OK && !*stopped && self->tests ? test(self, stopped)
                                                       : status;
}

/// An evaluation after a step, whose results are noted in `out`.
typedef hfta_status evaluation(hfta_trainer *self, int64_t step,
                               hfta_epoch_results *out, bool *stopped);

/// Evaluates with averages in the places of weights.
static hfta_status with_averages(hfta_trainer *self, evaluation *run,
                                 int64_t step, hfta_epoch_results *out,
                                 bool *stopped) {
  // Until the instance has its weights again, nothing can be saved.
  bool can_save = self->can_save;
  self->can_save = false;
  hfta_status status = hfta_averages_put(&self->averages);
  if (status != HFTA_OK)
    return status;
  status = run(self, step, out, stopped);
  hfta_error reason = *self->error;
  hfta_status restored = hfta_averages_remove(&self->averages);
  self->can_save = can_save && restored == HFTA_OK;
  if (status == HFTA_OK)
    return restored;
  *self->error = reason;
  return status;
}

/// Evaluates the running averages, which are in place, on the data on which the
/// weights were evaluated.
static hfta_status evaluate_averages(hfta_trainer *self, int64_t step,
                                     hfta_epoch_results *out, bool *stopped) {
  hfta_train_result *result = self->result;
  bool validates = out->validation_losses != NULL;
  bool tests = out->eval_losses != NULL;
  hfta_status status = HFTA_OK;
  (void)step;
  if (validates)
    status = evaluate(self, &self->data.validation,
                      &result->average_validation_losses,
                      &result->average_validation_metrics, stopped);
  if (status == HFTA_OK && !*stopped && tests)
    status = evaluate(self, &self->test, &result->average_eval_losses,
                      &result->average_eval_metrics, stopped);
  if (validates) {
    out->average_validation_losses = result->average_validation_losses;
    out->average_validation_metrics = result->average_validation_metrics;
  }
  if (tests) {
    out->average_eval_losses = result->average_eval_losses;
    out->average_eval_metrics = result->average_eval_metrics;
  }
  return status;
}

/// Evaluates the data that are due after a step, and notes them in `out`.
static hfta_status evaluate_due(hfta_trainer *self, int64_t step,
                                hfta_epoch_results *out, bool *stopped) {
  hfta_train_result *result = self->result;
  hfta_status status = HFTA_OK;
  bool is_complete = hfta_trainer_is_complete(self, step);
  if (self->validates && (is_complete || hfta_trainer_is_due(self, step))) {
    status = validate(self, step, is_complete, stopped);
    out->validation_losses = result->validation_losses;
    out->validation_metrics = result->validation_metrics;
  }
  bool ends = !self->validates || hfta_trainer_is_complete(self, step);
  if (status == HFTA_OK && !*stopped && ends && self->keeps_best) {
    status = hfta_trainer_with_best(self, test_best, stopped);
    out->best_steps = result->best_steps;
  } else if (status == HFTA_OK && !*stopped && ends && self->tests) {
    status = test(self, stopped);
  }
  if (ends) {
    out->eval_losses = result->eval_losses;
    out->eval_metrics = result->eval_metrics;
  }
  bool averages = hfta_program_averages(self->program) &&
                  (out->validation_losses || out->eval_losses);
  return status == HFTA_OK && !*stopped && averages
             ? with_averages(self, evaluate_averages, step, out, stopped)
             : status;
}

/// Returns whether data are evaluated after a step.
static bool is_evaluated(const hfta_trainer *self, int64_t step) {
  return self->validates ? hfta_trainer_is_complete(self, step) ||
                               hfta_trainer_is_due(self, step)
                         : self->tests;
}

/// Tells the user which copies have stopped after a step.
static void announce_stopped(hfta_trainer *self, int64_t step) {
  const hfta_validation *by = &self->program->validation;
  for (int64_t copy = 0; self->follows && copy < self->program->copies; ++copy)
    if (self->standings.stopped_after[copy] == step)
      hfta_progress_note(
          &self->progress,
          "copy %lld stops after step %lld: no better validation %s for %lld "
          "evaluations",
          (long long)copy, (long long)step,
          hfta_program_score_name(self->program), (long long)by->patience);
}

hfta_status hfta_trainer_finish_epoch(hfta_trainer *self, int64_t step,
                                      bool log) {
  hfta_epoch_results results = {.epoch = hfta_trainer_epoch(self, step),
                                .seconds = hfta_now() - self->epoch_begin,
                                .train_losses = self->result->train_losses,
                                .tested = self->chosen};
  bool stopped = false;
  hfta_trainer_find_train_losses(self);
  // Where optimizers average weights, the averages count: as best weights, too.
  hfta_status status =
      hfta_program_adds_offsets(self->program) && is_evaluated(self, step)
          ? with_averages(self, evaluate_due, step, &results, &stopped)
          : evaluate_due(self, step, &results, &stopped);
  if (stopped)
    self->result->interrupted = true;
  if (status != HFTA_OK || stopped)
    return status;
  // Copies that stop now still have values.
  hfta_trainer_find_runs(self, step);
  if (log)
    status = hfta_trainer_after_logging(
        self, hfta_log_epoch(self->log, &results, self->error));
  if (status == HFTA_OK && log)
    hfta_progress_epoch(&self->progress, step, &results);
  if (status == HFTA_OK && log)
    announce_stopped(self, step);
  if (status == HFTA_OK && results.best_steps)
    hfta_trainer_announce_best(self);
  if (status == HFTA_OK && !hfta_trainer_is_complete(self, step))
    status = hfta_trainer_choose_running(self, step + 1);
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
  // Without a log, the standings say that an evaluation is missing.
  bool needs_scores = self->program->validation.patience > 0 ||
                      self->keeps_best || self->plateaus.count > 0;
  bool lacks_scores = needs_scores && hfta_trainer_is_due(self, step) &&
                      self->standings.evaluated_step < step;
  if (!lacks_epoch && !lacks_scores && !hfta_trainer_is_complete(self, step))
    return HFTA_OK;
  // Copies that have stopped after this very step have results too.
  status = hfta_trainer_choose_running(self, step);
  return status == HFTA_OK ? hfta_trainer_finish_epoch(self, step, lacks_epoch)
                           : status;
}
