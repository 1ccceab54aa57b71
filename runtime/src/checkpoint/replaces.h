//===- replaces.h - Refuses outputs that would replace inputs -----*- C -*-===//
//
// Files are compared by device and inode, so that links and different spellings
// of a path are recognized. An output that doesn't exist yet replaces no input.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_REPLACES_H
#define HFTA_SRC_CHECKPOINT_REPLACES_H

#include "hfta/program.h"
#include "hfta/status.h"

/// The name of a search's journal in its folder, and the prefix of the names of
/// trials' files there (src/tuning).
#define HFTA_SEARCH_JOURNAL "search.jsonl"
#define HFTA_TRIAL_PREFIX "trial-"

/// Returns HFTA_USAGE, with a message that names both paths, if `output` is the
/// file `input`.
hfta_status hfta_refuse_to_replace(const char *output, const char *input,
                                   hfta_error *error);

/// Returns HFTA_USAGE if `output` is the running program's file.
hfta_status hfta_refuse_to_replace_program(const char *output,
                                           hfta_error *error);

/// Returns HFTA_USAGE if `output` is a file of a checkpoint. `folder` is a
/// checkpoint, or a folder with checkpoints; NULL if there is none.
hfta_status hfta_refuse_to_replace_checkpoint(const char *output,
                                              const char *folder,
                                              hfta_error *error);

/// Returns HFTA_USAGE if `output` is a data file of the job. Relative paths in
/// the job are below `root`, or below the working folder if it is NULL.
hfta_status hfta_refuse_to_replace_data(const char *output,
                                        const hfta_program *program,
                                        const char *root, hfta_error *error);

/// Returns HFTA_USAGE if two outputs are the same file, even if it doesn't
/// exist yet. `what` describes `other` in the message. NULL stands for no
/// output.
hfta_status hfta_refuse_to_write_twice(const char *output, const char *what,
                                       const char *other, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_REPLACES_H
