//===- checkpoint_impl.h - Shared by saving and loading ---------*- C -*-===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H

#include "hfta/checkpoint.h"
#include "system/lock.h"

#define HFTA_CHECKPOINT_FORMAT "hfta-checkpoint"
#define HFTA_CHECKPOINT_VERSION "2"

/// The version of checkpoints without a checksum, which are read too.
#define HFTA_CHECKPOINT_VERSION_UNCHECKED "1"

/// The prefix of our folders' names while they aren't checkpoints.
#define HFTA_CHECKPOINT_HIDDEN ".hfta-"

/// The suffix of the name of a checkpoint that is being replaced.
#define HFTA_CHECKPOINT_REPLACED "-old"

/// Returns the step in the last part of a path, -1 if that is no checkpoint's
/// name.
int64_t hfta_checkpoint_step_of(const char *path);

/// Makes the folder, excludes other trainings and saves until
/// hfta_folder_unlock, checks that it can be written, and repairs what an
/// interrupted save has left. `lock` must hold nothing (descriptor -1).
hfta_status hfta_checkpoint_acquire(hfta_folder_lock *lock, const char *folder,
                                    hfta_error *error);

/// Whether other ranks have tensors that the first one lacks, so that it can't
/// save without them.
bool hfta_checkpoint_is_spread(const hfta_instance *instance);

/// Saves as hfta_checkpoint_save does, for a caller that holds the folder's
/// lock. All ranks call it if the checkpoint is spread.
hfta_status hfta_checkpoint_write(hfta_instance *instance, const char *folder,
                                  const hfta_epoch_losses *epoch_losses);

/// Removes all checkpoints. After a failure hfta_checkpoint_newest reports
/// whether checkpoints are left, or only files without a checkpoint's name.
hfta_status hfta_checkpoint_clear(const char *folder, hfta_error *error);

/// Removes one folder in `folder`. It is renamed first, so that nothing
/// half-removed looks like a checkpoint.
hfta_status hfta_checkpoint_discard(const char *folder, const char *path,
                                    hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
