//===- replaces.h - No output replaces an input -----------------*- C -*-===//
//
// Files are told apart by device and inode, so that links and other spellings
// of a path are seen through. What isn't there yet replaces no input.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_REPLACES_H
#define HFTA_SRC_CHECKPOINT_REPLACES_H

#include "hfta/program.h"
#include "hfta/status.h"

/// HFTA_USAGE, and a message that names both, if `output` is the file `input`.
hfta_status hfta_refuse_to_replace(const char *output, const char *input,
                                   hfta_error *error);

/// The same for the running program.
hfta_status hfta_refuse_to_replace_program(const char *output,
                                           hfta_error *error);

/// The same for files of checkpoints in a folder, or of the one that the folder
/// is. NULL is allowed.
hfta_status hfta_refuse_to_replace_checkpoint(const char *output,
                                              const char *folder,
                                              hfta_error *error);

/// The same for the data files that the job names, which lie under `root`.
hfta_status hfta_refuse_to_replace_data(const char *output,
                                        const hfta_program *program,
                                        const char *root, hfta_error *error);

/// The same for two outputs, also where neither is there yet; `what` says in
/// the message what the other one is. NULL is allowed for either.
hfta_status hfta_refuse_to_write_twice(const char *output, const char *what,
                                       const char *other, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_REPLACES_H
