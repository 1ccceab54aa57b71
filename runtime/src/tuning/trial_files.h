//===- trial_files.h - The files of trials' states --------------*- C -*-===//
//
// Beside its journal, a search's folder has a file for the last state of each
// run, and one for its best state if the job keeps that:
//
//   trial-0003.step-00000843.safetensors
//   trial-0003.best-00000843.safetensors
//   trial-0003.fold-1.step-00000843.safetensors
//
// They are of the same format as a copy's file of a checkpoint (checkpoint.h).
// A new state's file is written before the journal says anything that follows
// from it, and older ones are removed afterwards, so that a search can go on
// whenever it has ended.
//
// Only rank 0 uses the folder, but all ranks make the same calls, and know the
// same files.
//
// Threads: one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_TRIAL_FILES_H
#define HFTA_SRC_TUNING_TRIAL_FILES_H

#include "system/path.h"
#include "tuning/study.h"

/// Writes the path of a run's file to `*out`; `kind` is "step" or "best".
hfta_status hfta_trial_file_path(hfta_path *out, const char *folder,
                                 const hfta_study *study, int64_t run,
                                 const char *kind, int64_t steps,
                                 hfta_error *error);

/// Sets the `files` and `best_file` of all runs to those that the folder has.
/// Called after hfta_study_advance.
hfta_status hfta_trial_files_find(const char *folder, hfta_study *study,
                                  hfta_instance *instance);

/// Removes files that an interrupted save has left behind and, if `all`, all
/// files of trials.
hfta_status hfta_trial_files_clean(const char *folder, bool all,
                                   hfta_error *error);

/// Forgets those files that are of later steps than the journal, and so of an
/// evaluation that it doesn't have; `removes`: removes them from the folder,
/// too.
void hfta_trial_files_cut(const char *folder, hfta_study *study, bool removes);

/// Forgets files that are older than their runs' last evaluations, and aren't
/// needed for a clone; `removes`: removes them from the folder, too. They would
/// have been removed before if the last process hadn't ended.
void hfta_trial_files_tidy(const char *folder, hfta_study *study, bool removes);

/// Saves the state that a copy has after `steps` steps as a run's last one and,
/// if `is_best`, as its best one. `epoch_losses` has one value per copy.
hfta_status hfta_trial_files_save(const char *folder, hfta_study *study,
                                  hfta_instance *instance, int64_t run,
                                  int64_t copy, int64_t steps, bool is_best,
                                  const hfta_epoch_losses *epoch_losses);

/// Loads the weights that a run is judged by, its best or last ones, from the
/// folder into a copy, and sets its element of `epoch_losses`. Fails with
/// HFTA_INVALID_INPUT if the run hasn't been evaluated, or its file is missing.
hfta_status hfta_trial_files_load_judged(const char *folder,
                                         const hfta_study *study,
                                         hfta_instance *instance, int64_t run,
                                         int64_t copy,
                                         hfta_epoch_losses *epoch_losses);

/// Forgets those files of a run that aren't needed any more: all but its last
/// and its best one, and those that a clone begins with; `removes`: removes
/// them from the folder, too. `best_file` is the step of the best one; -1:
/// there is none. A file that can't be removed is left.
void hfta_trial_files_prune(const char *folder, hfta_study *study, int64_t run,
                            int64_t best_file, bool removes);

#endif // HFTA_SRC_TUNING_TRIAL_FILES_H
