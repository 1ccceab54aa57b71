//===- checkpoint.h - Saved trainings ---------------------------*- C -*-===//
//
// A checkpoint is a folder such as step-00000100 that holds one safetensors
// file per copy, copy-0000.safetensors and so on. A file has the tensors
// flagged HFTA_TENSOR_CHECKPOINT in the order of the program's table, and in
// `__metadata__`
//
//   format      "hfta-checkpoint"
//   version     "2"; "1", without a checksum, is read too
//   identity    the program's: a digest of the model graph and optimizer kind
//   step        number of steps done
//   checksum    of the whole file: see safetensors.h
//   epoch_loss  sum of the losses since the last epoch ended: the bits of an
//               f64 in hexadecimal
//   epoch_steps the number of these losses; checkpoints of older programs lack
//               it
//
// A checkpoint is written to a temporary folder whose name begins with
// ".hfta-", synced, and renamed into place: a folder with a checkpoint's name
// is complete. Equal states give equal bytes. A training locks the folder (by
// the file ".hfta-lock") until it ends, however it ends, and removes what an
// interrupted save has left behind. Reading takes no lock.
//
// Errors and threads: as in embed.h.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CHECKPOINT_H
#define HFTA_CHECKPOINT_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The losses of one copy since the last epoch ended. Only the number of the
/// losses says what the sum is to be divided by: a training may be resumed with
/// epochs of another length, and a copy doesn't run in all steps.
typedef struct hfta_epoch_losses {
  double sum;
  int64_t steps; ///< the number of losses; -1: unknown, as an older program has
                 ///< saved the checkpoint
} hfta_epoch_losses;

/// Long enough for the name of a checkpoint, "step-00000100".
#define HFTA_CHECKPOINT_NAME_BYTES 32

/// Writes the name of a step's folder and returns `buffer`.
const char *hfta_checkpoint_name(int64_t step,
                                 char buffer[HFTA_CHECKPOINT_NAME_BYTES]);

/// Returns the newest checkpoint's step; -1 if there is none, or no such
/// folder.
int64_t hfta_checkpoint_newest(const char *folder);

/// Saves the instance's state next to the folder's other checkpoints; an older
/// checkpoint of the same step is replaced. Several processes and instances may
/// save to one folder at once; while a training (hfta_train) has the folder,
/// saves by others fail with HFTA_INVALID_INPUT. `epoch_losses` has one value
/// per copy and may be NULL. All ranks may call it; only the first one writes,
/// to its own `folder`. All ranks must call it where stages have tensors on
/// other ranks.
hfta_status hfta_checkpoint_save(hfta_instance *instance, const char *folder,
                                 const hfta_epoch_losses *epoch_losses);

/// Keeps the newest `keep` of the checkpoints up to `step` and removes the
/// others. Links are removed, not followed. A checkpoint that can't be removed
/// doesn't stop the removal of the others.
hfta_status hfta_checkpoint_prune(const char *folder, int64_t step,
                                  int64_t keep, hfta_error *error);

/// Loads the newest checkpoint in `folder`, or `folder` itself if it has a
/// checkpoint's name. `epoch_losses` may be NULL. A torn or foreign checkpoint
/// gives HFTA_INVALID_INPUT with a message that names the file, and leaves the
/// instance as it was. So does one whose files are changed while they are read,
/// but what was loaded by then stays. All ranks call it: the first one reads
/// its `folder` for all of them.
hfta_status hfta_checkpoint_load(hfta_instance *instance, const char *folder,
                                 hfta_epoch_losses *epoch_losses);

#ifdef __cplusplus
}
#endif

#endif // HFTA_CHECKPOINT_H
