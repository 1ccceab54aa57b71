//===- trainer.c - The training loop --------------------------------------===//

#include "hfta/trainer.h"

#include "checkpoint/checkpoint_impl.h"
#include "checkpoint/replaces.h"
#include "data/dataset.h"
#include "data/feed.h"
#include "schedule/instance_impl.h"
#include "schedule/share_state.h"
#include "system/clock.h"
#include "trace/trace.h"
#include "training/evaluate.h"
#include "training/log.h"
#include "training/progress.h"
#include "training/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trainer {
  hfta_instance *instance;
  const hfta_program *program;
  const hfta_train_options *options;
  hfta_train_result *result;
  hfta_dataset train;
  hfta_dataset test;
  bool evaluates;
  hfta_feed *feed;
  hfta_folder_lock lock; ///< of the checkpoints' folder
  hfta_log *log;
  hfta_trace *trace;
  hfta_progress progress;
  hfta_team team;
  int64_t steps_per_epoch;
  int64_t first_step; ///< steps done before this run
  int64_t total_steps;
  int64_t saved_step; ///< the last checkpoint's, -1: none
  bool can_save;      ///< the instance stands between two steps
  hfta_error failure; ///< after which the training goes on to a step that all
                      ///< ranks save; code HFTA_OK: none
  double *losses;
  double *loss_sums; ///< since the epoch's begin
  double *rates;
  double epoch_begin;
  hfta_error *error;
} trainer;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

static hfta_status check_options(trainer *self) {
  const hfta_program *program = self->program;
  const hfta_train_options *options = self->options;
  if (!hfta_program_trains(program))
    return hfta_fail(self->error, HFTA_USAGE,
                     "'%s' was compiled for inference only: the job had no "
                     "loss",
                     program->name);
  const hfta_device_functions *device =
      hfta_instance_device_kind(self->instance);
  if (device->takes_file)
    return hfta_fail(self->error, HFTA_USAGE,
                     "device '%s' runs no tasks, so that nothing is trained",
                     device->kind);
  if (!hfta_dataset_exists(program, HFTA_SPLIT_TRAIN))
    return hfta_fail(self->error, HFTA_USAGE,
                     "'%s' was compiled without training data", program->name);
  if (options->epochs > 0 && options->steps > 0)
    return hfta_fail(self->error, HFTA_USAGE, "give epochs or steps, not both");
  if (options->epochs <= 0 && options->steps <= 0 && program->epochs <= 0 &&
      program->steps <= 0)
    return hfta_fail(self->error, HFTA_USAGE,
                     "the job doesn't say how long to train: give --epochs or "
                     "--steps");
  if (options->resume && options->overwrite)
    return hfta_fail(self->error, HFTA_USAGE,
                     "give --resume or --overwrite, not both");
  if ((options->resume || options->overwrite) && !options->checkpoint)
    return hfta_fail(self->error, HFTA_USAGE, "%s needs --checkpoint DIR",
                     options->resume ? "--resume" : "--overwrite");
  return HFTA_OK;
}

static hfta_status allocate_results(trainer *self) {
  size_t copies = (size_t)self->program->copies;
  self->losses = calloc(copies, sizeof(double));
  self->loss_sums = calloc(copies, sizeof(double));
  self->rates = calloc(copies, sizeof(double));
  self->result->train_losses = calloc(copies, sizeof(double));
  bool complete = self->losses && self->loss_sums && self->rates &&
                  self->result->train_losses;
  if (!complete)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for %zu copies' results", copies);
  return HFTA_OK;
}

static hfta_status open_data(trainer *self) {
  const hfta_program *program = self->program;
  const char *root = self->options->data_root;
  hfta_status status = hfta_dataset_open(program, HFTA_SPLIT_TRAIN, root,
                                         &self->train, self->error);
  if (status != HFTA_OK)
    return status;
  self->steps_per_epoch = hfta_steps_per_epoch(&self->train);
  if (self->steps_per_epoch == 0)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "the training data hold %lld samples, fewer than one "
                     "batch of %lld",
                     (long long)self->train.samples, (long long)program->batch);
  self->evaluates = hfta_dataset_exists(program, HFTA_SPLIT_TEST) &&
                    hfta_program_evaluates(program);
  if (self->evaluates)
    status = hfta_dataset_open(program, HFTA_SPLIT_TEST, root, &self->test,
                               self->error);
  return status;
}

/// Log and trace are no files that the training reads. NULL is allowed.
static hfta_status check_output(trainer *self, const char *path) {
  const hfta_train_options *options = self->options;
  if (!path || !hfta_team_leads(&self->team))
    return HFTA_OK;
  hfta_status status = hfta_refuse_to_replace_program(path, self->error);
  if (status == HFTA_OK)
    status = hfta_refuse_to_replace_data(path, self->program,
                                         options->data_root, self->error);
  if (status == HFTA_OK)
    status = hfta_refuse_to_replace_checkpoint(path, options->checkpoint,
                                               self->error);
  return status;
}

/// Nor is the trace, and it isn't the log that is open by now.
static hfta_status open_trace(trainer *self) {
  const hfta_train_options *options = self->options;
  const char *path = options->trace_path, *log = options->log_path;
  hfta_status status = check_output(self, path);
  if (status == HFTA_OK && path && log && hfta_team_leads(&self->team) &&
      hfta_refuse_to_replace(path, log, NULL) != HFTA_OK)
    return hfta_fail(self->error, HFTA_USAGE, "'%s' would replace the log '%s'",
                     path, log);
  hfta_trace_options trace = {
      .path = path, .steps = options->trace_steps, .first = self->first_step};
  if (status == HFTA_OK)
    status = hfta_trace_open(self->instance, &trace, &self->trace, self->error);
  return status;
}

/// Options go before the program's own length, steps before epochs.
static hfta_status find_length(trainer *self) {
  int64_t steps = self->options->steps, epochs = self->options->epochs;
  if (steps <= 0 && epochs <= 0) {
    steps = self->program->steps;
    epochs = self->program->epochs;
  }
  if (steps <= 0 && epochs > INT64_MAX / self->steps_per_epoch)
    return hfta_fail(self->error, HFTA_USAGE, "%lld epochs are too many",
                     (long long)epochs);
  self->total_steps = steps > 0 ? steps : epochs * self->steps_per_epoch;
  hfta_instance_set_total_steps(self->instance, self->total_steps);
  return HFTA_OK;
}

/// A training must not end up beside another's checkpoints: after a crash the
/// other's could be taken for its newest.
static hfta_status prepare_checkpoints(trainer *self) {
  const hfta_train_options *options = self->options;
  const char *folder = options->checkpoint;
  if (!folder || !hfta_team_leads(&self->team))
    return HFTA_OK;
  hfta_status status =
      hfta_checkpoint_acquire(&self->lock, folder, self->error);
  if (status != HFTA_OK)
    return status;
  int64_t newest = hfta_checkpoint_newest(folder);
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  if (newest >= 0 && !options->resume && !options->overwrite)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "'%s' holds checkpoints of an earlier training, the "
                     "newest %s: give --resume to go on from it, or "
                     "--overwrite to remove them",
                     folder, hfta_checkpoint_name(newest, name));
  self->saved_step = options->resume ? newest : -1;
  return HFTA_OK;
}

/// All ranks begin with what the first one finds, whether they see its folder
/// or not.
static hfta_status load_beginning(trainer *self) {
  hfta_status status = hfta_share_bytes(
      self->team.communicator, "the step to go on from", &self->saved_step,
      sizeof(self->saved_step), self->error);
  if (status == HFTA_OK && self->saved_step >= 0)
    status = hfta_checkpoint_load(self->instance, self->options->checkpoint,
                                  self->loss_sums);
  self->first_step = hfta_instance_steps(self->instance);
  return status;
}

static hfta_status open_log(trainer *self) {
  hfta_log_span span = {.steps_done = self->first_step,
                        .total_steps = self->total_steps,
                        .steps_per_epoch = self->steps_per_epoch,
                        .resumed = self->options->resume,
                        .live = hfta_instance_live(self->instance)};
  const char *path =
      hfta_team_leads(&self->team) ? self->options->log_path : NULL;
  return hfta_log_open(self->program, path, &span, &self->log, self->error);
}

static void announce(trainer *self) {
  const hfta_program *program = self->program;
  hfta_progress *progress = &self->progress;
  hfta_progress_note(
      progress, "%s: %lld copies, batch %lld, %lld steps an epoch, %d threads",
      program->name, (long long)program->copies, (long long)program->batch,
      (long long)self->steps_per_epoch, hfta_instance_threads(self->instance));
  if (!hfta_team_is_alone(&self->team))
    hfta_progress_note(progress, "%d ranks share %lld workers",
                       self->team.communicator->size,
                       (long long)program->workers);
  hfta_progress_note(
      progress, "data: %lld samples to train, %lld to test, %.1f MiB unpacked",
      (long long)self->train.samples, (long long)self->test.samples,
      (double)(self->train.resident_bytes + self->test.resident_bytes) /
          (1 << 20));
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  if (self->first_step > 0)
    hfta_progress_note(progress, "resuming from %s/%s",
                       self->options->checkpoint,
                       hfta_checkpoint_name(self->first_step, name));
  else if (self->options->resume)
    hfta_progress_note(progress, "no checkpoint in '%s': starting anew",
                       self->options->checkpoint);
  if (self->lock.absent)
    hfta_progress_note(progress,
                       "the file system of '%s' has no locks: no other "
                       "training may use it now",
                       self->options->checkpoint);
}

/// Goes on after a checkpoint that couldn't be removed whole.
static void note_leftover(trainer *self) {
  hfta_progress_note(&self->progress, "note: %s", self->error->message);
}

/// Starts reading ahead unless that goes on already.
static hfta_status start_feed(trainer *self, int64_t first) {
  if (self->feed)
    return HFTA_OK;
  return hfta_feed_start_training(
      &self->train, hfta_instance_reads(self->instance), first,
      self->total_steps, hfta_trace_observer(self->trace), &self->feed,
      self->error);
}

static void stop_feed(trainer *self) {
  hfta_instance_offer(self->instance, NULL);
  hfta_feed_stop(self->feed);
  self->feed = NULL;
}

/// Everything has been checked: from here on an earlier training's log and
/// checkpoints go, unless this one goes on from them.
static hfta_status begin(trainer *self) {
  const char *folder = self->options->checkpoint;
  hfta_status status = HFTA_OK;
  if (self->first_step < self->total_steps)
    status = start_feed(self, self->first_step);
  if (status == HFTA_OK)
    status = hfta_log_begin(self->log, self->error);
  if (status != HFTA_OK || !self->options->overwrite ||
      !hfta_team_leads(&self->team))
    return status;
  status = hfta_checkpoint_clear(folder, self->error);
  if (status == HFTA_OK || hfta_checkpoint_newest(folder) >= 0)
    return status;
  note_leftover(self);
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// This rank's own wish.
static bool should_stop(const trainer *self) {
  const hfta_train_options *options = self->options;
  return self->failure.code != HFTA_OK ||
         (options->should_stop &&
          options->should_stop(options->should_stop_argument));
}

/// Whether the other ranks must help to save what was done since the beginning.
/// They are on their way through the next step.
static bool needs_help(const trainer *self) {
  return self->options->checkpoint &&
         hfta_instance_steps(self->instance) > self->first_step &&
         hfta_checkpoint_is_spread(self->instance);
}

/// The result of writing to the log. A pipe whose reader has gone stops a
/// training like the signal that it brings, unless that is ignored. Where other
/// ranks must help to save, they are asked to stop, and the failure waits until
/// that is done.
static hfta_status after_logging(trainer *self, hfta_status status) {
  if (status == HFTA_OK)
    return status;
  if (hfta_log_is_abandoned(self->log) && should_stop(self)) {
    // Of several ranks the others learn of it before the next step.
    self->result->interrupted = hfta_team_is_alone(&self->team);
    return HFTA_OK;
  }
  if (!needs_help(self))
    return status;
  if (self->failure.code == HFTA_OK)
    self->failure = *self->error;
  return HFTA_OK;
}

/// With what was put off, whatever came of going on.
static hfta_status take_failure(trainer *self, hfta_status status) {
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

static hfta_status save_checkpoint(trainer *self, int64_t step) {
  const hfta_train_options *options = self->options;
  bool leads = hfta_team_leads(&self->team);
  if (!options->checkpoint || self->saved_step == step ||
      !(leads || hfta_checkpoint_is_spread(self->instance)))
    return HFTA_OK;
  hfta_status status = hfta_checkpoint_write(
      self->instance, options->checkpoint, self->loss_sums);
  self->can_save = status == HFTA_OK;
  if (status != HFTA_OK)
    return status;
  self->saved_step = step;
  if (leads && options->keep > 0 &&
      hfta_checkpoint_prune(options->checkpoint, step, options->keep,
                            self->error) != HFTA_OK)
    note_leftover(self);
  return HFTA_OK;
}

/// After a failure: the steps done aren't lost, and its reason isn't either.
/// For what lies on other ranks these would have to help, which go on with the
/// next step.
static void save_what_is_done(trainer *self) {
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

/// Once, when it is complete or nothing more comes.
static hfta_status write_trace(trainer *self, bool is_last) {
  if (!self->trace || (!is_last && !hfta_trace_is_complete(self->trace)))
    return HFTA_OK;
  int64_t dropped;
  hfta_instance_observe(self->instance, NULL);
  if (!hfta_trace_is_complete(self->trace))
    stop_feed(self); // which may be recording
  hfta_status status = hfta_trace_finish(self->trace, &dropped, self->error);
  if (dropped > 0)
    hfta_progress_note(&self->progress,
                       "note: the trace lacks %lld events: it has no room for "
                       "so many steps",
                       (long long)dropped);
  return status;
}

static void find_train_losses(trainer *self, int64_t step) {
  int64_t count = step > 0 ? (step - 1) % self->steps_per_epoch + 1 : 0;
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    self->result->train_losses[copy] =
        count ? self->loss_sums[copy] / (double)count : NAN;
}

static hfta_status evaluate(trainer *self, bool *stopped) {
  size_t copies = (size_t)self->program->copies;
  hfta_train_result *result = self->result;
  if (!result->eval_losses)
    result->eval_losses = calloc(copies, sizeof(double));
  if (!result->eval_metrics && *self->program->metric)
    result->eval_metrics = calloc(copies, sizeof(double));
  if (!result->eval_losses || (*self->program->metric && !result->eval_metrics))
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for %zu copies' results", copies);
  return hfta_evaluate_dataset(
      self->instance, &self->test, result->eval_losses, result->eval_metrics,
      hfta_team_is_alone(&self->team) ? self->options->should_stop : NULL,
      self->options->should_stop_argument, stopped);
}

/// Evaluation, log and progress after an epoch's last step, or the training's.
static hfta_status finish_epoch(trainer *self, int64_t step, int64_t epoch,
                                bool log) {
  hfta_train_result *result = self->result;
  double seconds = hfta_now() - self->epoch_begin;
  bool stopped = false;
  hfta_status status = HFTA_OK;
  find_train_losses(self, step);
  if (self->evaluates) {
    // The plan holds one feed's buffers; the next step starts training's again.
    stop_feed(self);
    status = evaluate(self, &stopped);
  }
  if (stopped)
    result->interrupted = true;
  if (status != HFTA_OK || stopped)
    return status;
  if (log)
    status = after_logging(
        self, hfta_log_epoch(self->log, epoch, result->train_losses,
                             result->eval_losses, result->eval_metrics, seconds,
                             self->error));
  if (status == HFTA_OK && log)
    hfta_progress_epoch(&self->progress, step, epoch, result->train_losses,
                        result->eval_losses, result->eval_metrics);
  self->epoch_begin = hfta_now();
  return status;
}

/// Takes the batch and the rates of step number `step`, counted from 1.
static hfta_status take_batch(trainer *self, int64_t step,
                              const void *const **inputs) {
  int64_t valid;
  hfta_status status = start_feed(self, step - 1);
  if (status == HFTA_OK)
    status = hfta_feed_next(self->feed, inputs, &valid, self->error);
  for (int64_t copy = 0; copy < self->program->copies && status == HFTA_OK;
       ++copy)
    status =
        hfta_instance_learning_rate(self->instance, copy, &self->rates[copy]);
  return status;
}

static hfta_status run_step(trainer *self, int64_t step, int64_t epoch) {
  const void *const *inputs;
  hfta_status status = take_batch(self, step, &inputs);
  if (status != HFTA_OK)
    return status;
  self->can_save = false;
  hfta_feed_offer(self->feed, self->instance);
  hfta_trace_begin_step(self->trace);
  status = hfta_instance_step(self->instance, inputs, self->losses);
  if (status != HFTA_OK)
    return status;
  hfta_trace_end_step(self->trace);
  self->can_save = true;
  bool begins_epoch = (step - 1) % self->steps_per_epoch == 0;
  const bool *live = hfta_instance_live(self->instance);
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    if (live[copy])
      self->loss_sums[copy] =
          (begins_epoch ? 0.0 : self->loss_sums[copy]) + self->losses[copy];
  int64_t every = self->options->log_every ? self->options->log_every
                                           : HFTA_DEFAULT_LOG_EVERY;
  if (step == 1 || step == self->total_steps || step % every == 0)
    status =
        after_logging(self, hfta_log_step(self->log, step, epoch, self->losses,
                                          self->rates, self->error));
  hfta_progress_step(&self->progress, step, epoch, self->losses);
  return status;
}

static int64_t epoch_of(const trainer *self, int64_t step) {
  return (step - 1) / self->steps_per_epoch + 1;
}

/// A training that was complete already still ends with its results, and one
/// whose last evaluation was interrupted does that once more.
static hfta_status finish_earlier_epoch(trainer *self) {
  bool lacks_epoch = hfta_log_lacks_epoch(self->log);
  int64_t step = self->first_step;
  // The first rank alone has the log.
  hfta_status status =
      hfta_share_bytes(self->team.communicator, "what the log lacks",
                       &lacks_epoch, sizeof(lacks_epoch), self->error);
  if (status != HFTA_OK)
    return status;
  if (!lacks_epoch && step < self->total_steps)
    return HFTA_OK;
  return finish_epoch(self, step, epoch_of(self, step), lacks_epoch);
}

static hfta_status run_steps(trainer *self) {
  int64_t step = self->first_step;
  self->epoch_begin = hfta_now();
  hfta_status status = finish_earlier_epoch(self);
  if (self->trace)
    hfta_instance_observe(self->instance, hfta_trace_observer(self->trace));
  while (step < self->total_steps && status == HFTA_OK &&
         !self->result->interrupted) {
    ++step;
    int64_t epoch = epoch_of(self, step);
    bool last = step == self->total_steps;
    status = hfta_team_ask(&self->team, should_stop(self), self->error);
    if (status == HFTA_OK)
      status =
          hfta_team_hear(&self->team, run_step(self, step, epoch), self->error);
    if (status == HFTA_OK && (last || step % self->steps_per_epoch == 0))
      status = finish_epoch(self, step, epoch, true);
    bool stops =
        hfta_team_is_alone(&self->team) ? should_stop(self) : self->team.stops;
    if (!last && stops)
      self->result->interrupted = true;
    if (status == HFTA_OK)
      status = write_trace(self, false);
    bool due = last || self->result->interrupted ||
               (self->options->every > 0 && step % self->options->every == 0);
    if (status == HFTA_OK && due)
      status = save_checkpoint(self, step);
  }
  if (status == HFTA_OK)
    status = write_trace(self, true);
  status = take_failure(self, status);
  if (status != HFTA_OK)
    save_what_is_done(self);
  self->result->steps = hfta_instance_steps(self->instance);
  find_train_losses(self, self->result->steps);
  return status;
}

static hfta_status prepare(trainer *self) {
  hfta_status status = check_options(self);
  if (status == HFTA_OK)
    status = allocate_results(self);
  if (status == HFTA_OK)
    status = open_data(self);
  if (status == HFTA_OK)
    status = check_output(self, self->options->log_path);
  if (status == HFTA_OK)
    status = find_length(self);
  if (status == HFTA_OK)
    status = hfta_team_compare(&self->team, self->options, self->instance,
                               self->total_steps, self->error);
  if (status == HFTA_OK)
    status = prepare_checkpoints(self);
  if (status == HFTA_OK)
    status = load_beginning(self);
  if (status == HFTA_OK)
    status = open_log(self);
  return status == HFTA_OK ? open_trace(self) : status;
}

static hfta_status train(trainer *self) {
  const hfta_train_options *options = self->options;
  hfta_status status = prepare(self);
  if (status != HFTA_OK)
    return status;
  bool shows_progress = options->progress && hfta_team_leads(&self->team);
  hfta_progress_begin(&self->progress, self->program, shows_progress,
                      self->first_step, self->total_steps,
                      options->log_every ? options->log_every
                                         : HFTA_DEFAULT_LOG_EVERY);
  self->progress.live = hfta_instance_live(self->instance);
  announce(self);
  status = begin(self);
  if (status == HFTA_OK)
    status = run_steps(self);
  hfta_progress_end(&self->progress);
  // Nobody leaves before the first rank has saved.
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
  trainer self = {
      .instance = instance,
      .program = hfta_instance_program(instance),
      .options = options,
      .result = result,
      .lock = {.descriptor = -1},
      .team = {.communicator = hfta_instance_communicator(instance)},
      .saved_step = -1,
      .can_save = true,
      .error = hfta_instance_error(instance)};
  hfta_status status = train(&self);
  hfta_feed_stop(self.feed);
  if (self.trace)
    hfta_instance_observe(instance, NULL);
  hfta_trace_close(self.trace);
  hfta_log_close(self.log);
  hfta_folder_unlock(&self.lock);
  hfta_dataset_close(&self.train);
  hfta_dataset_close(&self.test);
  free(self.losses);
  free(self.loss_sums);
  free(self.rates);
  return status;
}

void hfta_train_result_free(hfta_train_result *result) {
  free(result->train_losses);
  free(result->eval_losses);
  free(result->eval_metrics);
  memset(result, 0, sizeof(*result));
}
