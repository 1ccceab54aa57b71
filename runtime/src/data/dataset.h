//===- dataset.h - The files of a data block --------------------*- C -*-===//
//
// Threads: opened and closed by one thread; any number of threads may read.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATASET_H
#define HFTA_SRC_DATA_DATASET_H

#include "hfta/data.h"

#include <stdbool.h>

/// The use of data files: for training or for evaluation.
typedef enum hfta_split {
  HFTA_SPLIT_TRAIN = 0,
  HFTA_SPLIT_TEST = 1
} hfta_split;

/// The open sources of one split, one per field of the data block.
typedef struct hfta_dataset {
  const hfta_program *program;
  hfta_data **sources; ///< one per field
  int64_t samples;     ///< the number of samples of each source
  /// Bytes of data that were decompressed or converted, and so are in memory
  /// instead of mapped.
  uint64_t resident_bytes;
} hfta_dataset;

/// Returns whether the data block names a file for every field of the split.
bool hfta_dataset_exists(const hfta_program *program, hfta_split split);

/// Opens all sources of a split and checks that they hold the same number of
/// samples, and only valid class numbers. Relative paths are below the folder
/// `root`, or below the working folder if it is NULL. `*out` must be released
/// by hfta_dataset_close, also after a failure.
hfta_status hfta_dataset_open(const hfta_program *program, hfta_split split,
                              const char *root, hfta_dataset *out,
                              hfta_error *error);

/// Closes the sources. Closing twice is allowed.
void hfta_dataset_close(hfta_dataset *dataset);

/// Returns the bytes of a field in a batch, that is in all micro-batches of a
/// step.
uint64_t hfta_batch_bytes(const hfta_program *program, uint32_t field);

#endif // HFTA_SRC_DATA_DATASET_H
