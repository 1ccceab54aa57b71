//===- replaces.h - No output replaces an input -----------------*- C -*-===//
//
// Files are compared by device and inode, so that links and other spellings of
// a path are recognized. A file that doesn't exist yet replaces no input.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_REPLACES_H
#define HFTA_SRC_CHECKPOINT_REPLACES_H

#include "hfta/program.h"
#include "hfta/status.h"

/// Fails with HFTA_USAGE, and a message that names both, if `output` is the
/// file `input`.
hfta_status hfta_refuse_to_replace(const char *output, const char *input,
                                   hfta_error *error);

/// Fails with HFTA_USAGE if `output` is the running program.
hfta_status hfta_refuse_to_replace_program(const char *output,
                                           hfta_error *error);

/// Fails with HFTA_USAGE if `output` is a file of the checkpoints in a folder,
/// or of the folder itself if it is one. NULL is allowed.
hfta_status hfta_refuse_to_replace_checkpoint(const char *output,
                                              const char *folder,
                                              hfta_error *error);

/// Fails with HFTA_USAGE if `output` is a data file that the job names, under
/// `root`.
hfta_status hfta_refuse_to_replace_data(const char *output,
                                        const hfta_program *program,
                                        const char *root, hfta_error *error);

/// Fails with HFTA_USAGE if two outputs are one file, even if it doesn't exist
/// yet; `what` describes the other output in the message. Either may be NULL.
hfta_status hfta_refuse_to_write_twice(const char *output, const char *what,
                                       const char *other, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_REPLACES_H
