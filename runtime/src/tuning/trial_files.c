//===- trial_files.c - The files of trials' states ------------------------===//

#include "tuning/trial_files.h"

#include "checkpoint/checkpoint_impl.h"
#include "checkpoint/replaces.h"
#include "instance/instance_impl.h"
#include "instance/share_state.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hfta_status hfta_trial_file_path(hfta_path *out, const char *folder,
                                 const hfta_study *study, int64_t run,
                                 const char *kind, int64_t steps,
                                 hfta_error *error) {
  char fold[32] = "";
  if (study->validation.folds > 0)
    snprintf(fold, sizeof(fold), ".fold-%" PRId64, study->runs[run].fold);
  return hfta_path_format(out, error,
                          "%s/" HFTA_TRIAL_PREFIX "%04" PRId64
                          "%s.%s-%08" PRId64 ".safetensors",
                          folder, study->runs[run].trial, fold, kind, steps);
}

//===----------------------------------------------------------------------===//
// The folder's contents
//===----------------------------------------------------------------------===//

/// The parts of a file's name.
typedef struct file_name {
  int64_t trial, fold, steps;
  int64_t is_best;
} file_name;

/// Parses a number of at least one digit at `*at`, and moves `*at` after it.
static bool parse_number(const char **at, int64_t *out) {
  if (**at < '0' || **at > '9')
    return false;
  char *end;
  errno = 0;
  *out = strtoll(*at, &end, 10);
  *at = end;
  return errno == 0;
}

static bool skip(const char **at, const char *text) {
  size_t length = strlen(text);
  bool is_there = strncmp(*at, text, length) == 0;
  *at += is_there ? length : 0;
  return is_there;
}

static bool parse_name(const char *name, file_name *out) {
  *out = (file_name){.fold = 0};
  if (!skip(&name, HFTA_TRIAL_PREFIX) || !parse_number(&name, &out->trial))
    return false;
  if (skip(&name, ".fold-") && !parse_number(&name, &out->fold))
    return false;
  out->is_best = skip(&name, ".best-");
  if (!out->is_best && !skip(&name, ".step-"))
    return false;
  return parse_number(&name, &out->steps) && strcmp(name, ".safetensors") == 0;
}

/// Lists the folder's files in an array that the caller frees. Returns false if
/// there isn't enough memory.
static bool list(const char *folder, file_name **out, int64_t *count) {
  DIR *directory = opendir(folder);
  *out = NULL;
  *count = 0;
  if (!directory)
    return true;
  const struct dirent *entry;
  bool complete = true;
  while (complete && (entry = readdir(directory))) {
    file_name name;
    if (!parse_name(entry->d_name, &name))
      continue;
    file_name *more = realloc(*out, sizeof(**out) * (size_t)(*count + 1));
    complete = more != NULL;
    if (!complete)
      break;
    *out = more;
    more[(*count)++] = name;
  }
  closedir(directory);
  return complete;
}

/// Adds a file's step to a run's list, in ascending order. Returns false if
/// there isn't enough memory.
static bool add_file(hfta_run *run, int64_t steps) {
  int64_t *more =
      realloc(run->files, sizeof(*more) * (size_t)(run->file_count + 1));
  if (!more)
    return false;
  run->files = more;
  int64_t at = run->file_count;
  while (at > 0 && more[at - 1] > steps)
    --at;
  if (at > 0 && more[at - 1] == steps)
    return true;
  memmove(more + at + 1, more + at,
          sizeof(*more) * (size_t)(run->file_count - at));
  more[at] = steps;
  ++run->file_count;
  return true;
}

static hfta_status no_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for the files of a search");
}

/// Returns the steps after which a run's best state so far was evaluated; -1:
/// it has none, or the job doesn't keep it.
static int64_t best_steps(const hfta_study *study, const hfta_run *run) {
  return study->validation.keeps_best && run->best.level > 0
             ? hfta_study_steps(study, run->trial, run->best.level)
             : -1;
}

static hfta_status enter(hfta_study *study, const file_name *names,
                         int64_t count, hfta_error *error) {
  for (int64_t i = 0; i < count; ++i) {
    const file_name *name = &names[i];
    if (name->trial >= study->trial_count || name->fold >= study->fold_count)
      continue;
    hfta_run *run = &study->runs[name->trial * study->fold_count + name->fold];
    // After a crash, there may be an older one, or a newer one whose evaluation
    // isn't in the journal.
    if (name->is_best && name->steps == best_steps(study, run))
      run->best_file = name->steps;
    else if (!name->is_best && !add_file(run, name->steps))
      return no_memory(error);
  }
  return HFTA_OK;
}

hfta_status hfta_trial_files_find(const char *folder, hfta_study *study,
                                  hfta_instance *instance) {
  hfta_communicator *communicator = instance->communicator;
  file_name *names = NULL;
  int64_t count = 0;
  hfta_status status = HFTA_OK;
  if (communicator->rank == 0 && !list(folder, &names, &count))
    status = no_memory(&instance->error);
  status = hfta_share_outcome(instance, status);
  if (status == HFTA_OK)
    status = hfta_share_bytes(communicator, "the number of a search's files",
                              &count, sizeof(count), &instance->error);
  if (status == HFTA_OK && !names && count > 0) {
    names = calloc((size_t)count, sizeof(*names));
    if (!names)
      status = no_memory(&instance->error);
  }
  if (status == HFTA_OK && count > 0)
    status =
        hfta_share_bytes(communicator, "the search's files", names,
                         sizeof(*names) * (uint64_t)count, &instance->error);
  if (status == HFTA_OK)
    status = enter(study, names, count, &instance->error);
  free(names);
  return status;
}

/// Returns whether a name is that of a trial's file that isn't complete.
static bool is_temporary(const char *name) {
  return strncmp(name, HFTA_TRIAL_PREFIX, sizeof(HFTA_TRIAL_PREFIX) - 1) == 0 &&
         strstr(name, ".safetensors.tmp-");
}

hfta_status hfta_trial_files_clean(const char *folder, bool all,
                                   hfta_error *error) {
  DIR *directory = opendir(folder);
  const struct dirent *entry;
  file_name name;
  hfta_status status = HFTA_OK;
  while (directory && status == HFTA_OK && (entry = readdir(directory)))
    if ((is_temporary(entry->d_name) ||
         (all && parse_name(entry->d_name, &name))) &&
        unlinkat(dirfd(directory), entry->d_name, 0) != 0)
      status = hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s/%s': %s",
                         folder, entry->d_name, strerror(errno));
  if (directory)
    closedir(directory);
  return status == HFTA_OK ? hfta_folder_sync(folder, error) : status;
}

//===----------------------------------------------------------------------===//
// Saving and removing
//===----------------------------------------------------------------------===//

/// Gives the file of the last state a second name, as the best one. On a file
/// system without hard links, writes it a second time.
static hfta_status save_best(const char *folder, hfta_study *study,
                             hfta_instance *instance, int64_t run, int64_t copy,
                             int64_t steps, const char *last,
                             const hfta_epoch_losses *epoch_losses) {
  hfta_path best;
  hfta_status status = hfta_trial_file_path(&best, folder, study, run, "best",
                                            steps, &instance->error);
  if (status != HFTA_OK)
    return status;
  int64_t is_linked = 0;
  if (instance->communicator->rank == 0) {
    unlink(best.text);
    is_linked = link(last, best.text) == 0;
  }
  status = hfta_share_bytes(instance->communicator, "whether a file is linked",
                            &is_linked, sizeof(is_linked), &instance->error);
  if (status == HFTA_OK && !is_linked)
    status =
        hfta_checkpoint_write_copy(instance, copy, best.text, epoch_losses);
  return status;
}

hfta_status hfta_trial_files_save(const char *folder, hfta_study *study,
                                  hfta_instance *instance, int64_t run,
                                  int64_t copy, int64_t steps, bool is_best,
                                  const hfta_epoch_losses *epoch_losses) {
  hfta_path path;
  hfta_status status = hfta_trial_file_path(&path, folder, study, run, "step",
                                            steps, &instance->error);
  if (status == HFTA_OK)
    status =
        hfta_checkpoint_write_copy(instance, copy, path.text, epoch_losses);
  if (status == HFTA_OK && is_best)
    status = save_best(folder, study, instance, run, copy, steps, path.text,
                       epoch_losses);
  if (status == HFTA_OK && !add_file(&study->runs[run], steps))
    status = no_memory(&instance->error);
  return status;
}

hfta_status hfta_trial_files_load_judged(const char *folder,
                                         const hfta_study *study,
                                         hfta_instance *instance, int64_t run,
                                         int64_t copy,
                                         hfta_epoch_losses *epoch_losses) {
  const hfta_evaluated *scored = hfta_study_scored(study, run);
  hfta_path path;
  if (!scored)
    return hfta_fail(&instance->error, HFTA_INVALID_INPUT,
                     "trial %lld hasn't been evaluated yet",
                     (long long)study->runs[run].trial);
  int64_t steps =
      hfta_study_steps(study, study->runs[run].trial, scored->epoch);
  bool is_best = study->runs[run].best_file == steps;
  hfta_status status =
      hfta_trial_file_path(&path, folder, study, run, is_best ? "best" : "step",
                           steps, &instance->error);
  return status == HFTA_OK ? hfta_checkpoint_read_copy(
                                 instance, copy, path.text, steps, epoch_losses)
                           : status;
}

/// Returns whether a clone that hasn't a file of its own yet begins with the
/// run's state after `steps` steps.
static bool is_origin(const hfta_study *study, int64_t run, int64_t steps) {
  for (int64_t i = 0; i < study->trial_count * study->fold_count; ++i) {
    const hfta_run *clone = &study->runs[i];
    if (clone->origin != run || clone->origin_steps != steps)
      continue;
    if (clone->file_count == 0 || clone->files[clone->file_count - 1] <= steps)
      return true;
  }
  return false;
}

static void remove_file(const char *folder, const hfta_study *study,
                        int64_t run, const char *kind, int64_t steps) {
  hfta_path path;
  if (hfta_trial_file_path(&path, folder, study, run, kind, steps, NULL) ==
      HFTA_OK)
    unlink(path.text);
}

void hfta_trial_files_cut(const char *folder, hfta_study *study, bool removes) {
  for (int64_t i = 0; i < study->trial_count * study->fold_count; ++i) {
    hfta_run *run = &study->runs[i];
    int64_t epoch = hfta_study_done_epoch(run);
    if (study->rows[run->trial].has_leg)
      epoch = hfta_study_next_epoch(study, i, epoch);
    int64_t most = hfta_study_steps(study, run->trial, epoch);
    while (run->file_count > 0 && run->files[run->file_count - 1] > most) {
      --run->file_count;
      if (removes)
        remove_file(folder, study, i, "step", run->files[run->file_count]);
    }
  }
}

void hfta_trial_files_prune(const char *folder, hfta_study *study, int64_t run,
                            int64_t best_file, bool removes) {
  hfta_run *self = &study->runs[run];
  int64_t kept = 0;
  for (int64_t i = 0; i < self->file_count; ++i) {
    int64_t steps = self->files[i];
    if (i + 1 == self->file_count || is_origin(study, run, steps))
      self->files[kept++] = steps;
    else if (removes)
      remove_file(folder, study, run, "step", steps);
  }
  self->file_count = kept;
  if (self->best_file >= 0 && self->best_file != best_file && removes)
    remove_file(folder, study, run, "best", self->best_file);
  self->best_file = best_file;
}

/// Removes files of best states that the runs don't have any more.
static void remove_old_best(const char *folder, const hfta_study *study) {
  file_name *names;
  int64_t count;
  // Without enough memory, they are left.
  if (!list(folder, &names, &count))
    count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const file_name *name = &names[i];
    if (!name->is_best || name->trial >= study->trial_count ||
        name->fold >= study->fold_count)
      continue;
    int64_t run = name->trial * study->fold_count + name->fold;
    if (name->steps != study->runs[run].best_file)
      remove_file(folder, study, run, "best", name->steps);
  }
  free(names);
}

void hfta_trial_files_tidy(const char *folder, hfta_study *study,
                           bool removes) {
  for (int64_t i = 0; i < study->trial_count * study->fold_count; ++i) {
    hfta_run *run = &study->runs[i];
    int64_t evaluated =
        hfta_study_steps(study, run->trial, hfta_study_last_epoch(run));
    int64_t kept = 0;
    for (int64_t j = 0; j < run->file_count; ++j) {
      int64_t steps = run->files[j];
      if (steps >= evaluated || is_origin(study, i, steps))
        run->files[kept++] = steps;
      else if (removes)
        remove_file(folder, study, i, "step", steps);
    }
    run->file_count = kept;
  }
  if (removes)
    remove_old_best(folder, study);
}
