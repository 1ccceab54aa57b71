//===- checkpoint.h - Saved trainings ---------------------------*- C -*-===//
//
// A checkpoint is a folder step-00000100 with one safetensors file a copy,
// copy-0000.safetensors and so on: the tensors flagged HFTA_TENSOR_CHECKPOINT
// in the order of the program's table, and in `__metadata__`
//
//   format      "hfta-checkpoint"
//   version     "2"; "1", without a checksum, is read too
//   identity    the program's: digest of model graph and optimizer kind
//   step        steps done
//   checksum    of the whole file: see safetensors.h
//   epoch_loss  sum of the losses since the epoch's begin: an f64's bits in
//               hexadecimal
//
// It is written to a temporary folder whose name begins with ".hfta-", synced,
// and renamed into place: what has a checkpoint's name is complete. Equal
// state gives equal bytes. A training locks the folder (file ".hfta-lock")
// until it ends, however it ends, and mends what an interrupted save has left.
// Reading takes no lock.
//
// Errors and threads: as in embed.h.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CHECKPOINT_H
#define HFTA_CHECKPOINT_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Long enough for the name of a checkpoint, "step-00000100".
#define HFTA_CHECKPOINT_NAME_BYTES 32

/// Writes the name of a step's folder and returns `buffer`.
const char *hfta_checkpoint_name(int64_t step,
                                 char buffer[HFTA_CHECKPOINT_NAME_BYTES]);

/// The newest checkpoint's step; -1 if there is none (also without folder).
int64_t hfta_checkpoint_newest(const char *folder);

/// Saves the instance's state beside what the folder holds; in place of an
/// older checkpoint of the same step. Several processes and instances may save
/// in one folder at once; while a training has it (hfta_train) the others'
/// saves are HFTA_INVALID_INPUT. `epoch_losses`, one a copy, may be NULL. All
/// ranks may call it; the first alone writes, `folder` is its own. They must,
/// where stages have tensors on other ranks.
hfta_status hfta_checkpoint_save(hfta_instance *instance, const char *folder,
                                 const double *epoch_losses);

/// Of the checkpoints up to `step`, keeps the newest `keep`. Links are removed,
/// not followed. One that resists doesn't keep the others.
hfta_status hfta_checkpoint_prune(const char *folder, int64_t step,
                                  int64_t keep, hfta_error *error);

/// Loads the newest checkpoint in `folder`, or `folder` itself if its name is
/// a checkpoint's. `epoch_losses` may be NULL. A torn or foreign one is
/// HFTA_INVALID_INPUT, says which file, and leaves the instance as it was. So
/// is one whose files are changed meanwhile, but what was loaded by then stays.
/// All ranks call it: the first one reads its `folder`, for all.
hfta_status hfta_checkpoint_load(hfta_instance *instance, const char *folder,
                                 double *epoch_losses);

#ifdef __cplusplus
}
#endif

#endif // HFTA_CHECKPOINT_H
