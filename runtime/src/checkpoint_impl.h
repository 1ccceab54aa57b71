//===- checkpoint_impl.h - Shared by saving and loading ---------*- C -*-===//

#ifndef HFTA_SRC_CHECKPOINT_IMPL_H
#define HFTA_SRC_CHECKPOINT_IMPL_H

#include "hfta/checkpoint.h"

#define HFTA_CHECKPOINT_FORMAT "hfta-checkpoint"
#define HFTA_CHECKPOINT_VERSION "2"

/// Checkpoints without a checksum are read too.
#define HFTA_CHECKPOINT_VERSION_UNCHECKED "1"

/// The step in the last part of a path, -1 if that is no checkpoint's name.
int64_t hfta_checkpoint_step_of(const char *path);

#endif // HFTA_SRC_CHECKPOINT_IMPL_H
