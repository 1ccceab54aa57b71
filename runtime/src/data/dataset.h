//===- dataset.h - The files of a data block --------------------*- C -*-===//
//
// Threads: opened and closed by one thread; any number of threads may read.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATASET_H
#define HFTA_SRC_DATA_DATASET_H

#include "hfta/data.h"

#include <stdbool.h>

/// The use of data: for training, for evaluation at the end, or to measure a
/// training while it goes on.
typedef enum hfta_split {
  HFTA_SPLIT_TRAIN = 0,
  HFTA_SPLIT_TEST = 1,
  HFTA_SPLIT_VALIDATION = 2
} hfta_split;

/// The open sources of one split, one per field of the data block; or a view of
/// some of another data set's samples (division.h).
typedef struct hfta_dataset {
  const hfta_program *program;
  hfta_split split;
  hfta_data **sources; ///< one per field; a view borrows them
  int64_t samples;     ///< the number of samples: all of each source, or those
                       ///< of the view
  /// Bytes of data that were decompressed or converted, and so are in memory
  /// instead of mapped; of a view, the size of its list.
  uint64_t resident_bytes;
  bool is_view;
  /// For each sample of a view, its number in the sources, in ascending order;
  /// `listed` unless the sources have 2^32 samples or more, else
  /// `widely_listed`. Both NULL: the samples are those of the sources.
  uint32_t *listed;
  uint64_t *widely_listed;
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

/// Checks that the names of classes of two splits agree, where both number them
/// by names. Fails with HFTA_INVALID_INPUT.
hfta_status hfta_dataset_compare_classes(const hfta_dataset *left,
                                         const hfta_dataset *right,
                                         hfta_error *error);

/// Closes the sources, or frees a view. Closing twice is allowed.
void hfta_dataset_close(hfta_dataset *dataset);

/// Returns the number in the sources of the sample at `position`, which is
/// below `samples`.
static inline int64_t hfta_dataset_sample(const hfta_dataset *dataset,
                                          int64_t position) {
  if (dataset->listed)
    return dataset->listed[position];
  if (dataset->widely_listed)
    return (int64_t)dataset->widely_listed[position];
  return position;
}

/// Returns what users call the split's data: "the training data".
const char *hfta_split_name(hfta_split split);

/// Returns the file of a field for a split.
const hfta_data_source *hfta_split_source(const hfta_data_field *field,
                                          hfta_split split);

/// Returns the bytes of a field in a batch, that is in all micro-batches of a
/// step.
uint64_t hfta_batch_bytes(const hfta_program *program, uint32_t field);

#endif // HFTA_SRC_DATA_DATASET_H
