//===- checkpoint_impl.h - Shared by saving and loading ---------*- C -*-===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H

#include "checkpoint/best_weights.h"
#include "hfta/checkpoint.h"
#include "system/lock.h"
#include "system/path.h"

/// The values of the metadata "format" and "version" (see checkpoint.h).
#define HFTA_CHECKPOINT_FORMAT "hfta-checkpoint"
#define HFTA_CHECKPOINT_VERSION "2"

/// The version of older checkpoints, which have no checksum. They can be
/// loaded.
#define HFTA_CHECKPOINT_VERSION_UNCHECKED "1"

/// These values in the files with best weights, which checkpoints of trainings
/// with `keep best` have: best-0000.safetensors for copy 0. Its `step` is that
/// of the weights. The copy's own file has that number as `best_step`, or 0 if
/// there is no such file.
#define HFTA_BEST_FORMAT "hfta-best-weights"
#define HFTA_BEST_VERSION "1"

/// The prefix of the names of folders that the runtime makes beside
/// checkpoints: incomplete, replaced and doomed ones.
#define HFTA_CHECKPOINT_HIDDEN ".hfta-"

/// The suffix of the name of a checkpoint that is being replaced by a new one
/// of the same step.
#define HFTA_CHECKPOINT_REPLACED "-old"

/// Returns the step if the last part of a path is a checkpoint's name, such as
/// "step-00000100"; else -1.
int64_t hfta_checkpoint_step_of(const char *path);

/// Writes the path of a copy's file in a checkpoint, or of the file with its
/// best weights.
hfta_status hfta_checkpoint_file(hfta_path *out, const char *checkpoint,
                                 int64_t copy, bool is_best, hfta_error *error);

/// Makes the folder if necessary, takes its lock exclusively until
/// hfta_folder_unlock, checks that files can be made in it, and removes or
/// completes what an interrupted save has left behind. HFTA_INVALID_INPUT if
/// another training or save has the lock. The caller must initialize
/// lock->descriptor to -1, and call hfta_folder_unlock also after a failure.
hfta_status hfta_checkpoint_acquire(hfta_folder_lock *lock, const char *folder,
                                    hfta_error *error);

/// Returns whether tensors are distributed over ranks, so that rank 0 needs
/// other ranks to save a checkpoint.
bool hfta_checkpoint_is_spread(const hfta_instance *instance);

/// Further files of a checkpoint: `write` is called on the first rank and
/// writes them into the folder before that gets its name.
typedef struct hfta_checkpoint_addition {
  hfta_status (*write)(void *argument, const char *folder, hfta_error *error);
  void *argument;
} hfta_checkpoint_addition;

/// Does as hfta_checkpoint_save, for a caller that has the folder's lock. If
/// the checkpoint is spread (hfta_checkpoint_is_spread), all ranks must call
/// it. `best` is NULL if the training keeps no best weights. `addition` may be
/// NULL.
hfta_status hfta_checkpoint_write(hfta_instance *instance, const char *folder,
                                  const hfta_epoch_losses *epoch_losses,
                                  hfta_best_weights *best,
                                  const hfta_checkpoint_addition *addition);

/// Does as hfta_checkpoint_load, and also loads the best weights into `best`,
/// which is open. Copies without any get step 0.
hfta_status hfta_checkpoint_load_both(hfta_instance *instance,
                                      const char *folder,
                                      hfta_epoch_losses *epoch_losses,
                                      hfta_best_weights *best);

/// Does as hfta_checkpoint_load, but gives each copy that has best weights
/// these instead of its last ones. `steps` receives for each copy the step of
/// its best weights; 0: the copy has its last ones.
hfta_status hfta_checkpoint_load_best(hfta_instance *instance,
                                      const char *folder, int64_t *steps);

/// Saves one copy to a file of its own, such as a checkpoint has for each copy:
/// completely or not at all (the file's folder isn't synced). Only rank 0
/// writes it, but all ranks must make the call, and return rank 0's result.
/// `epoch_losses` has one value per copy.
hfta_status hfta_checkpoint_write_copy(hfta_instance *instance, int64_t copy,
                                       const char *path,
                                       const hfta_epoch_losses *epoch_losses);

/// Loads such a file, which must be of `steps` steps, into a copy, and sets its
/// element of `epoch_losses`. Leaves the instance's number of steps as it is.
/// Only rank 0 reads the file, but all ranks must make the call. Fails with
/// HFTA_INVALID_INPUT as hfta_checkpoint_load does.
hfta_status hfta_checkpoint_read_copy(hfta_instance *instance, int64_t copy,
                                      const char *path, int64_t steps,
                                      hfta_epoch_losses *epoch_losses);

/// Removes all checkpoints in a folder. After a failure hfta_checkpoint_newest
/// tells whether any checkpoint is left, as a folder may also be left under a
/// hidden name.
hfta_status hfta_checkpoint_clear(const char *folder, hfta_error *error);

/// Removes the folder `path`, which is in `folder`. It is renamed first, so
/// that it isn't taken for a checkpoint while only some of its files are
/// removed.
hfta_status hfta_checkpoint_discard(const char *folder, const char *path,
                                    hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
