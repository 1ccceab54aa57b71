//===- dataset.h - The files of a data block --------------------*- C -*-===//
//
// Threads: open and close from one thread; reading from any.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATASET_H
#define HFTA_SRC_DATA_DATASET_H

#include "hfta/data.h"

#include <stdbool.h>

typedef enum hfta_split {
  HFTA_SPLIT_TRAIN = 0,
  HFTA_SPLIT_TEST = 1
} hfta_split;

/// The opened sources of one split, one per field of the data block.
typedef struct hfta_dataset {
  const hfta_program *program;
  hfta_data **sources;
  int64_t samples;
  uint64_t resident_bytes; ///< size of data that are unpacked into anonymous
                           ///< memory
} hfta_dataset;

/// Whether the data block names a file for every field of the split.
bool hfta_dataset_exists(const hfta_program *program, hfta_split split);

/// Opens all sources below `root` (may be NULL) and checks that they hold the
/// same number of samples. `*out` is released by hfta_dataset_close in any
/// case.
hfta_status hfta_dataset_open(const hfta_program *program, hfta_split split,
                              const char *root, hfta_dataset *out,
                              hfta_error *error);

/// Closes the sources; closing twice is allowed.
void hfta_dataset_close(hfta_dataset *dataset);

/// Returns the bytes of a whole batch of a field.
uint64_t hfta_batch_bytes(const hfta_program *program, uint32_t field);

#endif // HFTA_SRC_DATA_DATASET_H
