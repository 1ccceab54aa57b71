//===- trainer_prepare.c - Preparations for the training loop -------------===//

#include "training/trainer_impl.h"

#include "checkpoint/replaces.h"
#include "instance/instance_impl.h"
#include "instance/share_state.h"
#include "schedule/window.h"
#include "system/path.h"
#include "training/evaluate.h"
#include "training/trainer_parts.h"

#include <stdlib.h>
#include <string.h>

static hfta_status check_options(hfta_trainer *self) {
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
  hfta_status status = hfta_refuse_folds(program, self->error);
  if (status != HFTA_OK)
    return status;
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

static hfta_status allocate_results(hfta_trainer *self) {
  size_t copies = (size_t)self->program->copies;
  bool takes_windows =
      self->options->parts || hfta_instance_takes_windows(self->instance);
  size_t steps = takes_windows ? HFTA_MOST_WINDOW_STEPS : 1;
  self->losses = calloc(steps * copies, sizeof(double));
  self->epoch_losses = calloc(copies, sizeof(*self->epoch_losses));
  self->rates = calloc(copies, sizeof(double));
  self->result->train_losses = calloc(copies, sizeof(double));
  bool complete = self->losses && self->epoch_losses && self->rates &&
                  self->result->train_losses;
  complete &= hfta_trainer_follow_reports(self);
  if (!complete)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for %zu copies' results", copies);
  return HFTA_OK;
}

/// Checks that all ranks have the same numbers of samples, so that they run the
/// same steps.
static hfta_status compare_data(hfta_trainer *self) {
  hfta_communicator *communicator = self->team.communicator;
  hfta_status status =
      hfta_compare_samples(communicator, &self->data.train, self->error);
  if (status == HFTA_OK && self->data.validation.sources)
    status =
        hfta_compare_samples(communicator, &self->data.validation, self->error);
  return status == HFTA_OK
             ? hfta_compare_samples(communicator, &self->test, self->error)
             : status;
}

static hfta_status open_data(hfta_trainer *self) {
  const hfta_program *program = self->program;
  const char *root = self->options->data_root;
  hfta_status status = hfta_training_data_open(program, root, /*fold=*/0,
                                               &self->data, self->error);
  if (status != HFTA_OK)
    return status;
  self->steps_per_epoch = hfta_steps_per_epoch(&self->data.train);
  bool evaluates = hfta_program_evaluates(program);
  self->validates = evaluates && hfta_program_validates(program);
  if (self->validates)
    status = hfta_check_evaluated(&self->data.validation, self->error);
  self->tests = evaluates && hfta_dataset_exists(program, HFTA_SPLIT_TEST);
  if (self->tests && status == HFTA_OK)
    status = hfta_test_data_open(&self->data, root, &self->test, self->error);
  if (self->tests && status == HFTA_OK)
    status = hfta_check_evaluated(&self->test, self->error);
  return status;
}

/// Checks that an output file (log or trace) isn't a file that the training
/// reads. `path` may be NULL.
static hfta_status check_output(hfta_trainer *self, const char *path) {
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

/// Opens the trace. Its file must not be one that the training reads, nor the
/// log, which is already open.
static hfta_status open_trace(hfta_trainer *self) {
  const hfta_train_options *options = self->options;
  const char *path = options->trace_path;
  hfta_status status = check_output(self, path);
  if (status == HFTA_OK && hfta_team_leads(&self->team))
    status =
        hfta_refuse_to_write_twice(path, "log", options->log_path, self->error);
  hfta_trace_options trace = {
      .path = path, .steps = options->trace_steps, .first = self->first_step};
  if (status == HFTA_OK)
    status = hfta_trace_open(self->instance, &trace, &self->trace, self->error);
  return status;
}

/// Sets the number of steps. The options' length has priority over the
/// program's, and a number of steps over a number of epochs.
static hfta_status find_length(hfta_trainer *self) {
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

/// Locks the checkpoints' folder, and finds the checkpoint to continue from.
/// Refuses to add checkpoints to those of another training, because after a
/// crash one of those might be taken for the newest.
static hfta_status prepare_checkpoints(hfta_trainer *self) {
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

/// Sets numbers of losses that the checkpoint lacks, because an older program
/// has written it, to the number of steps of the current epoch.
static void count_epoch_losses(hfta_trainer *self) {
  int64_t step = self->first_step;
  for (int64_t copy = 0; copy < self->program->copies; ++copy)
    if (self->epoch_losses[copy].steps < 0)
      self->epoch_losses[copy].steps =
          step > 0 ? (step - 1) % self->steps_per_epoch + 1 : 0;
}

static hfta_status load_standings(hfta_trainer *self) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path folder;
  hfta_status status = HFTA_OK;
  if (hfta_team_leads(&self->team)) {
    status = hfta_path_format(&folder, self->error, "%s/%s",
                              self->options->checkpoint,
                              hfta_checkpoint_name(self->saved_step, name));
    if (status == HFTA_OK)
      status = hfta_standings_load(&self->standings, folder.text, self->error);
    if (status == HFTA_OK)
      status = hfta_plateaus_load(&self->plateaus, folder.text, self->error);
  }
  status = hfta_share_outcome(self->instance, status);
  if (status == HFTA_OK)
    status = hfta_standings_share(&self->standings, self->team.communicator,
                                  self->error);
  if (status == HFTA_OK)
    status = hfta_plateaus_share(&self->plateaus, self->team.communicator,
                                 self->error);
  hfta_plateaus_apply(&self->plateaus, self->instance);
  return status == HFTA_OK ? hfta_trainer_check_best(self) : status;
}

/// Loads the checkpoint that the first rank has found, on all ranks. Other
/// ranks need no access to its folder.
static hfta_status load_beginning(hfta_trainer *self) {
  hfta_status status = hfta_share_bytes(
      self->team.communicator, "the step to go on from", &self->saved_step,
      sizeof(self->saved_step), self->error);
  const char *folder = self->options->checkpoint;
  if (status == HFTA_OK && self->saved_step >= 0)
    status =
        self->keeps_best
            ? hfta_checkpoint_load_both(self->instance, folder,
                                        self->epoch_losses, &self->best)
            : hfta_checkpoint_load(self->instance, folder, self->epoch_losses);
  self->first_step = hfta_instance_steps(self->instance);
  if (status == HFTA_OK)
    count_epoch_losses(self);
  if (status == HFTA_OK && self->follows && self->saved_step >= 0)
    status = load_standings(self);
  return status == HFTA_OK
             ? hfta_trainer_choose_running(self, self->first_step + 1)
             : status;
}

static hfta_status open_log(hfta_trainer *self) {
  const char *board =
      hfta_team_leads(&self->team) ? self->options->tensorboard : NULL;
  hfta_log_span span = {
      .board = board,
      .steps_done = self->first_step,
      .total_steps = self->total_steps,
      .steps_per_epoch = self->steps_per_epoch,
      .resumed = self->options->resume,
      .file = self->options->log_file,
      .job = self->options->job,
      .live = self->follows ? self->runs : hfta_instance_live(self->instance)};
  const char *path =
      hfta_team_leads(&self->team) ? self->options->log_path : NULL;
  return hfta_log_open(self->program, path, &span, &self->log, self->error);
}

/// Shows a note if copies take turns because the device has no room for all of
/// them.
static void announce_turns(hfta_trainer *self) {
  int64_t count = hfta_instance_turn_count(self->instance);
  if (count > 1)
    hfta_progress_note(&self->progress,
                       "the device has no room for all copies at a time: they "
                       "take %lld turns of %lld copies",
                       (long long)count,
                       (long long)hfta_instance_turn(self->instance).copies);
}

/// Returns the path of data file number `index` if it is a csv file without a
/// declared header whose first line consists of numbers, so that it is read as
/// a sample; else NULL. Files are numbered over all fields' training files,
/// then over their test and validation files.
static const char *guessed_path(const hfta_trainer *self, uint32_t index) {
  const hfta_program *program = self->program;
  const hfta_dataset *all[] = {&self->data.whole, &self->test,
                               &self->data.validation};
  const hfta_dataset *data = all[index / program->data_field_count];
  uint32_t i = index % program->data_field_count;
  if (!data->sources || data->is_view ||
      !hfta_data_guesses_no_header(data->sources[i]))
    return NULL;
  return hfta_split_source(&program->data_fields[i], data->split)->path;
}

/// Shows a note about each csv file whose first line was taken as a sample,
/// since that may be a header of numbers. A file that several fields use is
/// named once.
static void announce_guesses(hfta_trainer *self) {
  for (uint32_t i = 0; i < 3 * self->program->data_field_count; ++i) {
    const char *path = guessed_path(self, i);
    for (uint32_t j = 0; j < i && path; ++j) {
      const char *other = guessed_path(self, j);
      if (other && strcmp(other, path) == 0)
        path = NULL;
    }
    if (path)
      hfta_progress_note(&self->progress,
                         "note: line 1 of '%s' is read as a sample; if it is a "
                         "header, set header = true, else header = false",
                         path);
  }
}

/// Tells the user how much memory metrics of ranks need for the larger one of
/// the data that are evaluated.
static void announce_scores(hfta_trainer *self) {
  const hfta_program *program = self->program;
  int64_t samples = self->tests ? self->test.samples : 0;
  if (self->validates && self->data.validation.samples > samples)
    samples = self->data.validation.samples;
  uint64_t bytes = hfta_program_score_bytes(program) * (uint64_t)samples *
                   (uint64_t)program->copies;
  if (bytes > 0)
    hfta_progress_note(&self->progress,
                       "metrics keep up to %.1f MiB of scores in the host's "
                       "memory",
                       (double)bytes / (1 << 20));
}

/// Shows the messages about data that are used nevertheless, and about classes.
static void announce_data(hfta_trainer *self) {
  const hfta_dataset *all[] = {&self->data.whole, &self->data.validation,
                               &self->test};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    for (uint32_t j = 0; j < self->program->data_field_count; ++j) {
      const hfta_data *source =
          all[i]->sources && !all[i]->is_view ? all[i]->sources[j] : NULL;
      for (size_t k = 0; source && k < hfta_data_note_count(source); ++k)
        hfta_progress_note(&self->progress, "note: %s",
                           hfta_data_note_at(source, k));
    }
}

void hfta_trainer_announce(hfta_trainer *self) {
  const hfta_program *program = self->program;
  hfta_progress *progress = &self->progress;
  // A screen prints the job's name before each line.
  bool is_named = !self->options->screen;
  hfta_progress_note(
      progress, "%s%s%lld copies, batch %lld, %lld steps an epoch, %d threads",
      is_named ? program->name : "", is_named ? ": " : "",
      (long long)program->copies, (long long)program->batch,
      (long long)self->steps_per_epoch, hfta_instance_threads(self->instance));
  if (!hfta_team_is_alone(&self->team))
    hfta_progress_note(progress, "%d ranks share %lld workers",
                       self->team.communicator->size,
                       (long long)program->workers);
  announce_turns(self);
  char validation[64] = "";
  if (self->data.validation.sources)
    snprintf(validation, sizeof(validation), "%lld to validate, ",
             (long long)self->data.validation.samples);
  hfta_progress_note(
      progress,
      "data: %lld samples to train, %s%lld to test, %.1f MiB unpacked",
      (long long)self->data.train.samples, validation,
      (long long)self->test.samples,
      (double)(hfta_training_data_bytes(&self->data) +
               self->test.resident_bytes) /
          (1 << 20));
  announce_data(self);
  announce_scores(self);
  announce_guesses(self);
  if (self->keeps_best)
    hfta_progress_note(progress,
                       "keeps each copy's best weights, by its validation %s",
                       hfta_program_score_name(program));
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

void hfta_trainer_note_leftover(hfta_trainer *self) {
  hfta_progress_note(&self->progress, "note: %s", self->error->message);
}

hfta_status hfta_trainer_begin(hfta_trainer *self) {
  const char *folder = self->options->checkpoint;
  hfta_status status = HFTA_OK;
  if (self->first_step < self->total_steps && !self->parts)
    status = hfta_trainer_start_feed(self, &self->feeding, self->first_step);
  if (status == HFTA_OK)
    status = hfta_log_begin(self->log, self->error);
  if (status != HFTA_OK || !self->options->overwrite ||
      !hfta_team_leads(&self->team))
    return status;
  status = hfta_checkpoint_clear(folder, self->error);
  if (status == HFTA_OK || hfta_checkpoint_newest(folder) >= 0)
    return status;
  hfta_trainer_note_leftover(self);
  return HFTA_OK;
}

hfta_status hfta_trainer_prepare(hfta_trainer *self) {
  hfta_status status = check_options(self);
  if (status == HFTA_OK)
    status = allocate_results(self);
  if (status == HFTA_OK)
    status = hfta_trainer_open_parts(self);
  if (status == HFTA_OK)
    status = open_data(self);
  if (status == HFTA_OK)
    status = hfta_trainer_open_standings(self);
  if (status == HFTA_OK)
    status = hfta_trainer_open_best(self);
  if (status == HFTA_OK && (hfta_program_averages(self->program) ||
                            hfta_program_adds_offsets(self->program)))
    status = hfta_averages_open(&self->averages, self->instance, self->error);
  if (status == HFTA_OK)
    status = compare_data(self);
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
