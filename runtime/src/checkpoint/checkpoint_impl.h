//===- checkpoint_impl.h - Shared by saving and loading ---------*- C -*-===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H

#include "hfta/checkpoint.h"
#include "system/lock.h"

#define HFTA_CHECKPOINT_FORMAT "hfta-checkpoint"
#define HFTA_CHECKPOINT_VERSION "2"

/// Checkpoints without a checksum are read too.
#define HFTA_CHECKPOINT_VERSION_UNCHECKED "1"

/// How the names of our folders begin while they are no checkpoints.
#define HFTA_CHECKPOINT_HIDDEN ".hfta-"

/// How the name of a checkpoint that is being replaced ends.
#define HFTA_CHECKPOINT_REPLACED "-old"

/// The step in the last part of a path, -1 if that is no checkpoint's name.
int64_t hfta_checkpoint_step_of(const char *path);

/// Makes the folder, keeps other trainings and saves out of it until
/// hfta_folder_unlock, checks that it can be written, and mends what an
/// interrupted save has left. `lock` must hold nothing (descriptor -1).
hfta_status hfta_checkpoint_acquire(hfta_folder_lock *lock, const char *folder,
                                    hfta_error *error);

/// Whether other ranks have tensors that the first one lacks: it can't save
/// without them.
bool hfta_checkpoint_is_spread(const hfta_instance *instance);

/// hfta_checkpoint_save for who holds the folder's lock. All ranks call it
/// where the checkpoint is spread.
hfta_status hfta_checkpoint_write(hfta_instance *instance, const char *folder,
                                  const double *epoch_losses);

/// Removes all checkpoints. After a failure hfta_checkpoint_newest tells
/// whether some are left, or merely files that have lost their names.
hfta_status hfta_checkpoint_clear(const char *folder, hfta_error *error);

/// Removes one folder in `folder`. It loses its name first, so that nothing
/// half-removed looks like a checkpoint.
hfta_status hfta_checkpoint_discard(const char *folder, const char *path,
                                    hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_IMPL_H
