//===- log_board.c - A training in TensorBoard's format -------------------===//

#include "training/log_board.h"

#include "data/division.h"
#include "history/history_impl.h"
#include "interchange/board.h"
#include "program/metric_values.h"
#include "system/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct hfta_log_board {
  const hfta_program *program;
  const hfta_log_span *span;
  hfta_board *board;
  double last_flush; ///< time (hfta_now) of the last one
  int64_t step;      ///< the last one
  double *losses;    ///< the last ones, one per copy
};

static hfta_status out_of_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for TensorBoard's files");
}

/// Describes the copies and their hyper-parameters.
static bool describe(const hfta_program *program, hfta_history *out) {
  if (!hfta_history_extend(out, program->copies))
    return false;
  hfta_json_value value = {.kind = HFTA_JSON_KIND_STRING};
  hfta_run_setting *setting =
      program->optimizers ? hfta_history_setting(out, "optimizer") : NULL;
  if (program->optimizers && !setting)
    return false;
  for (int64_t copy = 0; setting && copy < program->copies; ++copy) {
    value.text = program->optimizers[copy];
    if (!hfta_history_set(setting, copy, &value))
      return false;
  }
  value.kind = HFTA_JSON_KIND_NUMBER;
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i) {
    const hfta_hyper_parameter *one = &program->hyper_parameters[i];
    setting = hfta_history_setting(out, one->name);
    if (!setting)
      return false;
    for (int64_t copy = 0; copy < program->copies; ++copy) {
      value.number = one->values[copy];
      if (!hfta_history_set(setting, copy, &value))
        return false;
    }
  }
  return true;
}

/// Writes the tags of the numbers that compare copies: those of the data that
/// are evaluated. Returns their number.
static int64_t find_metrics(const hfta_program *program,
                            char tags[][HFTA_TAG_BYTES], int64_t most) {
  bool validates = hfta_program_validates(program);
  const char *data = validates ? "validation" : "eval";
  char series[256];
  int64_t count = 0;
  for (uint32_t i = 0; i < program->metric_count && count + 1 < most; ++i)
    if (!hfta_metric_is_matrix(&program->metrics[i])) {
      snprintf(series, sizeof(series), "%s_%.200s", data,
               program->metrics[i].name);
      hfta_board_tag(series, HFTA_EPOCH_ROWS, tags[count++]);
    }
  snprintf(series, sizeof(series), "%s_loss", data);
  hfta_board_tag(series, HFTA_EPOCH_ROWS, tags[count++]);
  return count;
}

hfta_status hfta_log_board_open(const char *folder, const hfta_program *program,
                                const hfta_log_span *span, hfta_log_board **out,
                                hfta_error *error) {
  enum { MOST_METRICS = 32 };
  *out = NULL;
  hfta_log_board *self = calloc(1, sizeof(*self));
  double *losses = calloc((size_t)program->copies, sizeof(*losses));
  if (!self || !losses) {
    free(self);
    free(losses);
    return out_of_memory(error);
  }
  *self = (hfta_log_board){.program = program, .span = span, .losses = losses};
  char tags[MOST_METRICS][HFTA_TAG_BYTES];
  const char *metrics[MOST_METRICS];
  int64_t count = find_metrics(program, tags, MOST_METRICS);
  for (int64_t i = 0; i < count; ++i)
    metrics[i] = tags[i];
  hfta_history described = {0};
  double now = hfta_time_of_day();
  hfta_status status =
      describe(program, &described)
          ? hfta_board_open(folder, &described, program->copies, metrics, count,
                            span->steps_done + 1, now, &self->board, error)
          : out_of_memory(error);
  for (int64_t copy = 0; status == HFTA_OK && copy < program->copies; ++copy)
    if (!span->live || span->live[copy])
      hfta_board_begin_run(self->board, &described, copy, now);
  hfta_histories list = {&described, 1};
  hfta_histories_drop(&list);
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_log_board_close(self);
  return status;
}

/// Adds a number of each copy that runs.
static void put(hfta_log_board *self, const char *tag, int64_t step,
                const double *values, const bool *live) {
  double now = hfta_time_of_day();
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    if (!live || live[copy])
      hfta_board_put(self->board, copy, 0, tag, step, values[copy], now);
}

/// Adds the losses, and those of terms behind them, of some data.
static void put_losses(hfta_log_board *self, const char *data, int64_t step,
                       const double *losses, const double *terms,
                       const bool *live) {
  char tag[HFTA_TAG_BYTES];
  snprintf(tag, sizeof(tag), "loss/%s", data);
  put(self, tag, step, losses, live);
  for (uint32_t i = 0; terms && i < self->program->loss_term_count; ++i) {
    snprintf(tag, sizeof(tag), "loss_%.200s/%s",
             self->program->loss_terms[i].name, data);
    put(self, tag, step, terms + i * self->program->copies, live);
  }
}

hfta_status hfta_log_board_step(hfta_log_board *self, int64_t step,
                                const double *losses, const double *terms,
                                const double *rates, hfta_error *error) {
  self->step = step;
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    self->losses[copy] = losses[copy];
  put_losses(self, "train", step, losses, terms, self->span->live);
  put(self, "learning_rate", step, rates, self->span->live);
  if (hfta_now() - self->last_flush < 1)
    return HFTA_OK;
  self->last_flush = hfta_now();
  return hfta_board_flush(self->board, error);
}

/// Adds the results on some data, unless they are NULL.
static void put_evaluation(hfta_log_board *self, const char *data, int64_t step,
                           const double *losses, const double *metrics,
                           const bool *live) {
  const hfta_program *program = self->program;
  char tag[HFTA_TAG_BYTES];
  if (losses)
    put_losses(self, data, step, losses, losses + program->copies, live);
  for (uint32_t i = 0; metrics && i < program->metric_count; ++i) {
    if (hfta_metric_is_matrix(&program->metrics[i]))
      continue;
    snprintf(tag, sizeof(tag), "%.200s/%s", program->metrics[i].name, data);
    put(self, tag, step, metrics + i * program->copies, live);
  }
}

hfta_status hfta_log_board_epoch(hfta_log_board *self,
                                 const hfta_epoch_results *results,
                                 hfta_error *error) {
  const bool *live = self->span->live;
  const bool *tested = results->tested ? results->tested : live;
  int64_t step = results->epoch * self->span->steps_per_epoch;
  if (step > self->span->total_steps)
    step = self->span->total_steps;
  put(self, "loss/train_epoch", step, results->train_losses, live);
  put_evaluation(self, "validation", step, results->validation_losses,
                 results->validation_metrics, live);
  put_evaluation(self, "average_validation", step,
                 results->average_validation_losses,
                 results->average_validation_metrics, live);
  put_evaluation(self, "test", step, results->eval_losses,
                 results->eval_metrics, tested);
  put_evaluation(self, "average_test", step, results->average_eval_losses,
                 results->average_eval_metrics, tested);
  self->last_flush = hfta_now();
  return hfta_board_flush(self->board, error);
}

void hfta_log_board_close(hfta_log_board *self) {
  if (!self)
    return;
  double now = hfta_time_of_day();
  for (int64_t copy = 0; self->board && copy < self->program->copies; ++copy)
    if (!self->span->live || self->span->live[copy])
      hfta_board_end_run(self->board, copy,
                         !isfinite(self->losses[copy]) ? HFTA_BOARD_FAILURE
                         : self->step < self->span->total_steps
                             ? HFTA_BOARD_RUNNING
                             : HFTA_BOARD_SUCCESS,
                         now);
  if (self->board)
    (void)hfta_board_flush(self->board, NULL);
  hfta_board_close(self->board);
  free(self->losses);
  free(self);
}
