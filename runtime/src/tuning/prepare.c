//===- prepare.c - Preparations for a search ------------------------------===//

#include "tuning/tuner_impl.h"

#include "checkpoint/checkpoint_impl.h"
#include "checkpoint/replaces.h"
#include "instance/share_state.h"
#include "training/evaluate.h"
#include "tuning/copy_state.h"
#include "tuning/facts.h"
#include "tuning/trial_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static hfta_status refuse(const hfta_tuner *self, const char *option,
                          const char *reason) {
  return hfta_fail(self->error, HFTA_USAGE, "option '%s': '%s' is a search, %s",
                   option, self->program->name, reason);
}

static hfta_status check_options(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  const hfta_device_functions *device =
      hfta_instance_device_kind(self->instance);
  if (device->takes_file)
    return hfta_fail(self->error, HFTA_USAGE,
                     "device '%s' runs no tasks, so that nothing is trained",
                     device->kind);
  if (train->steps > 0)
    return refuse(self, "--steps", "whose trials are counted in epochs");
  if (train->trace_path)
    return refuse(self, "--trace", "which can't be traced");
  if (train->model || train->part_count > 1)
    return refuse(self, "--seats", "which can't share a seat yet");
  if (train->log_file)
    return refuse(self, "--log", "whose log other jobs can't share");
  if (hfta_instance_live_count(self->instance) < self->program->copies)
    return refuse(self, "--only", "whose copies are slots for its trials");
  if ((train->resume || train->overwrite) && !train->checkpoint)
    return hfta_fail(self->error, HFTA_USAGE, "%s needs --checkpoint DIR",
                     train->resume ? "--resume" : "--overwrite");
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns the number of slots of the largest array.
static size_t count_slots(const hfta_tuner *self) {
  int64_t most = 0;
  for (int64_t i = 0; i < self->arrays[0]->search->array_count; ++i)
    if (self->arrays[i]->copies > most)
      most = self->arrays[i]->copies;
  return (size_t)most;
}

static hfta_status allocate(hfta_tuner *self) {
  size_t slots = count_slots(self);
  hfta_cohort *cohort = &self->cohort;
  cohort->runs = calloc(slots, sizeof(*cohort->runs));
  cohort->leaves = calloc(slots, sizeof(*cohort->leaves));
  self->epoch_losses = calloc(slots, sizeof(*self->epoch_losses));
  self->losses = calloc(slots, sizeof(double));
  self->metrics =
      calloc(slots * self->program->metric_count + 1, sizeof(double));
  self->numbers = calloc(slots, sizeof(*self->numbers));
  self->evaluated = calloc(slots, sizeof(*self->evaluated));
  bool complete = cohort->runs && cohort->leaves && self->epoch_losses &&
                  self->losses && self->metrics && self->numbers &&
                  self->evaluated;
  return complete ? HFTA_OK
                  : hfta_fail(self->error, HFTA_UNSUPPORTED,
                              "not enough memory for %zu slots", slots);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// Takes the folder, on rank 0. Removes an earlier search if it is to be
/// replaced.
static hfta_status take_folder(hfta_tuner *self, const hfta_path *journal) {
  const hfta_train_options *train = self->options->train;
  hfta_status status =
      hfta_checkpoint_acquire(&self->lock, self->folder, self->error);
  if (status != HFTA_OK)
    return status;
  bool exists = hfta_path_exists(journal->text);
  if (exists && !train->resume && !train->overwrite)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "'%s' holds an earlier search: give --resume to go on "
                     "with it, or --overwrite to remove it",
                     self->folder);
  if (hfta_checkpoint_newest(self->folder) >= 0)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "'%s' holds checkpoints of a training without a search: "
                     "give another folder",
                     self->folder);
  // The journal goes first: after a crash between the two, the files without it
  // are removed by the next search.
  if (exists && train->overwrite && unlink(journal->text) != 0)
    return hfta_fail(self->error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s",
                     journal->text, strerror(errno));
  bool is_new = train->overwrite || !hfta_journal_has_lines(journal->text);
  status = hfta_trial_files_clean(self->folder, is_new, self->error);
  if (status == HFTA_OK && is_new)
    hfta_tuner_forget_seconds(self);
  if (status != HFTA_OK)
    return status;
  hfta_tuner_read_seconds(self);
  return HFTA_OK;
}

/// Returns the number of trials that the user wants: Hyperband's follows from
/// the number of epochs.
static int64_t find_trials(const hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  const hfta_search *search = self->program->search;
  hfta_rule rule = search->rule;
  rule.units = train->epochs > 0 ? train->epochs : self->program->epochs;
  if (self->options->trials > 0)
    return self->options->trials;
  bool has_own = rule.kind == HFTA_RULE_HYPERBAND &&
                 hfta_rule_check(&rule, search->trials, NULL) == HFTA_OK;
  return has_own ? hfta_rule_trials(&rule) : search->trials;
}

static hfta_status open_journal(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  hfta_path path = {""};
  hfta_status status = HFTA_OK;
  if (self->folder)
    status = hfta_path_format(&path, self->error, "%s/%s", self->folder,
                              HFTA_SEARCH_JOURNAL);
  if (status == HFTA_OK && self->folder && hfta_team_leads(&self->team))
    status = take_folder(self, &path);
  status = hfta_share_outcome(self->instance, status);
  hfta_facts facts = {.count = 0};
  hfta_facts_of_run run = {.trials = find_trials(self),
                           .epochs = train->epochs > 0 ? train->epochs
                                                       : self->program->epochs,
                           .samples = self->data.whole.samples};
  memcpy(run.steps_per_epoch, self->steps_per_epoch,
         sizeof(run.steps_per_epoch));
  if (status == HFTA_OK)
    status = hfta_facts_find(self->arrays, &run, &facts, self->error);
  if (status == HFTA_OK)
    status = hfta_journal_open(self->folder ? path.text : NULL, facts.list,
                               facts.count, self->team.communicator,
                               &self->journal, self->error);
  hfta_facts_free(&facts);
  // More trials than a saved search began with are asked for later, as a user
  // may have done before.
  if (status == HFTA_OK && hfta_journal_is_resumed(self->journal))
    run.trials = hfta_facts_trials(self->journal);
  if (status == HFTA_OK)
    status = hfta_study_create(self->arrays, &run, self->journal, &self->study,
                               self->error);
  return status;
}

hfta_status hfta_tuner_begin(hfta_tuner *self) {
  hfta_status status = check_options(self);
  if (status == HFTA_OK)
    status = allocate(self);
  return status == HFTA_OK ? hfta_tuner_open_data(self) : status;
}

/// Checks that all ranks have been asked for the same search.
static hfta_status compare_ranks(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  const int64_t numbers[] = {find_trials(self),
                             train->epochs,
                             train->minutes,
                             train->resume,
                             train->overwrite,
                             train->checkpoint != NULL,
                             self->options->control != NULL};
  int other = -1;
  hfta_status status =
      hfta_communicator_compare(self->team.communicator, "options", numbers,
                                sizeof(numbers), &other, self->error);
  return status != HFTA_OK || other < 0
             ? status
             : hfta_fail(self->error, HFTA_USAGE,
                         "rank %d was started with other options than rank 0: "
                         "give all ranks the same",
                         other);
}

/// Opens the channel for requests, on the first rank.
static hfta_status open_control(hfta_tuner *self) {
  const char *control = self->options->control;
  hfta_status status = HFTA_OK;
  self->is_controlled = control != NULL;
  if (control && hfta_team_leads(&self->team))
    status = hfta_control_open(control, &self->control, self->error);
  return hfta_share_outcome(self->instance, status);
}

/// Checks that the log replaces no file that the search reads or writes.
static hfta_status check_log(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  const char *path = train->log_path;
  hfta_path journal;
  hfta_status status = hfta_refuse_to_replace_program(path, self->error);
  if (status == HFTA_OK)
    status = hfta_refuse_to_replace_data(path, self->program, train->data_root,
                                         self->error);
  if (status == HFTA_OK)
    status = hfta_refuse_to_replace_checkpoint(path, self->folder, self->error);
  if (status != HFTA_OK || !self->folder)
    return status;
  status = hfta_path_format(&journal, self->error, "%s/%s", self->folder,
                            HFTA_SEARCH_JOURNAL);
  return status == HFTA_OK ? hfta_refuse_to_write_twice(
                                 path, "journal", journal.text, self->error)
                           : status;
}

/// Opens the log, on the first rank. A new search begins a new one.
static hfta_status open_log(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  hfta_status status = HFTA_OK;
  if (hfta_team_leads(&self->team) && train->log_path) {
    status = check_log(self);
    if (status == HFTA_OK)
      status = hfta_log_file_open(train->log_path, train->resume, &self->log,
                                  self->error);
    if (status == HFTA_OK && self->log->regular && !train->resume &&
        ftruncate(fileno(self->log->file), 0) != 0)
      status = hfta_log_file_cannot_write(self->log, errno, self->error);
  }
  return hfta_share_outcome(self->instance, status);
}

/// Opens the files for TensorBoard, on the first rank.
static hfta_status open_board(hfta_tuner *self) {
  const char *folder = self->options->train->tensorboard;
  hfta_status status = HFTA_OK;
  if (hfta_team_leads(&self->team) && folder)
    status = hfta_search_board_open(
        folder, self->program, self->study->trial_count,
        hfta_tuner_steps_per_epoch(self), &self->board, self->error);
  return hfta_share_outcome(self->instance, status);
}

hfta_status hfta_tuner_prepare(hfta_tuner *self) {
  const hfta_train_options *train = self->options->train;
  hfta_status status = hfta_tuner_begin(self);
  if (status == HFTA_OK)
    status = compare_ranks(self);
  // First, since a journal that has been begun would need --resume next time.
  if (status == HFTA_OK)
    status = open_control(self);
  if (status == HFTA_OK)
    status = open_log(self);
  if (status == HFTA_OK)
    status = open_journal(self);
  if (status == HFTA_OK)
    status = open_board(self);
  if (status != HFTA_OK)
    return status;
  self->most_seconds =
      60 * (train->minutes > 0 ? (double)train->minutes
                               : self->program->validation.minutes);
  hfta_progress_begin(&self->progress, self->program,
                      train->progress && hfta_team_leads(&self->team), 0, 1, 1);
  hfta_progress_join(&self->progress, train->screen, train->screen_block);
  return HFTA_OK;
}

void hfta_tuner_close(hfta_tuner *self) {
  hfta_feed_stop(self->feed);
  hfta_control_close(self->control);
  hfta_log_file_close(self->log);
  hfta_search_board_close(self->board);
  hfta_study_destroy(self->study);
  hfta_journal_close(self->journal);
  hfta_folder_unlock(&self->lock);
  hfta_tuner_close_data(self);
  free(self->cohort.runs);
  free(self->cohort.leaves);
  free(self->epoch_losses);
  free(self->losses);
  free(self->metrics);
  free(self->numbers);
  free(self->evaluated);
}
