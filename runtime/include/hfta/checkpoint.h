//===- checkpoint.h - Saved trainings ---------------------------*- C -*-===//
//
// A checkpoint is a folder such as step-00000100 that holds one safetensors
// file per copy: copy-0000.safetensors and so on. A file has the copy's tensors
// flagged HFTA_TENSOR_CHECKPOINT, in the order of hfta_program.tensors, and in
// its `__metadata__`
//
//   format      "hfta-checkpoint"
//   version     "2"; version "1", which has no checksum, can be read
//   identity    digest of the copy's model graph and the kind of optimizer
//   step        number of steps done
//   checksum    of the whole file (safetensors.h)
//   epoch_loss  sum of the copy's losses since the last epoch ended: the bits
//               of an f64 in hexadecimal
//   epoch_steps number of these losses; absent in checkpoints of older programs
//
// A training that goes by scores adds training.safetensors, and one with `keep
// best` the best weights of copies (src/checkpoint/checkpoint_impl.h).
//
// A checkpoint is written to a temporary folder, whose name begins with
// ".hfta-", synced, then renamed. So a folder with a checkpoint's name is
// always complete. Equal states give equal bytes. A training locks the folder
// of its checkpoints (by the file ".hfta-lock") until it ends, however it ends,
// and removes temporary folders that an interrupted save has left behind.
// Reading takes no lock.
//
// The rules of embed.h on errors and threads hold here too.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CHECKPOINT_H
#define HFTA_CHECKPOINT_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The losses of one copy since the last epoch ended, for the mean over the
/// epoch. Their number doesn't follow from the step: a resumed training may
/// have epochs of another length, and a copy may not run in every step.
typedef struct hfta_epoch_losses {
  double sum;
  int64_t steps; ///< number of losses in the sum; -1: unknown, because an older
                 ///< program has saved the checkpoint
} hfta_epoch_losses;

/// Size of a buffer for the name of a checkpoint, such as "step-00000100".
#define HFTA_CHECKPOINT_NAME_BYTES 32

/// Writes the name of the checkpoint of a step, such as "step-00000100", and
/// returns `buffer`.
const char *hfta_checkpoint_name(int64_t step,
                                 char buffer[HFTA_CHECKPOINT_NAME_BYTES]);

/// Returns the step of the newest checkpoint in a folder; -1 if it has none, or
/// doesn't exist.
int64_t hfta_checkpoint_newest(const char *folder);

/// Saves the instance's state as a checkpoint in `folder`, and replaces an
/// older checkpoint of the same step. `epoch_losses` has one value per copy;
/// NULL: they aren't saved. Several processes and instances may save to one
/// folder at once; while a training (hfta_train) has locked it, saves by others
/// fail with HFTA_INVALID_INPUT. With several ranks only rank 0 writes, to its
/// own `folder`. The other ranks must make the call too if pipeline stages have
/// tensors on them; otherwise they may.
hfta_status hfta_checkpoint_save(hfta_instance *instance, const char *folder,
                                 const hfta_epoch_losses *epoch_losses);

/// Removes the checkpoints of steps up to `step`, except the newest `keep` of
/// them. Symbolic links are removed, not followed. If a checkpoint can't be
/// removed, the others are removed all the same.
hfta_status hfta_checkpoint_prune(const char *folder, int64_t step,
                                  int64_t keep, hfta_error *error);

/// Loads the newest checkpoint in `folder`, or `folder` itself if its name is a
/// checkpoint's. `epoch_losses` receives one value per copy, or is NULL. A
/// checkpoint that is incomplete, damaged or of another model or optimizer
/// gives HFTA_INVALID_INPUT with a message that names the file, and leaves the
/// instance unchanged. If somebody changes the files during the load, it also
/// fails with HFTA_INVALID_INPUT, but tensors loaded before keep their new
/// values. All ranks must make the call: rank 0 reads its `folder` and sends
/// the contents to the others.
hfta_status hfta_checkpoint_load(hfta_instance *instance, const char *folder,
                                 hfta_epoch_losses *epoch_losses);

#ifdef __cplusplus
}
#endif

#endif // HFTA_CHECKPOINT_H
