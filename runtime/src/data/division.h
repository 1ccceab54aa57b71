//===- division.h - Training data without those for validation --*- C -*-===//
//
// A job may take a part of its training data out for validation, or divide them
// into folds (hfta_validation). The files are opened once, whole. Training and
// validation then have views, which borrow the open sources and list their
// samples in the order of the files, so that a job without shuffling still
// reads them in this order.
//
// Which samples are for validation depends on nothing but their number, the
// seed, and the share or the number of folds: the samples are ordered by
// hfta_order_of_division, and the first ones, or a fold's, are taken.
//
// Threads: as for data sets (dataset.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DIVISION_H
#define HFTA_SRC_DATA_DIVISION_H

#include "data/dataset.h"

/// Returns whether the job takes samples out of the training data.
bool hfta_program_divides(const hfta_program *program);

/// Returns whether the job has validation data: files, or samples of the
/// training data.
bool hfta_program_validates(const hfta_program *program);

/// Divides opened training data by the program's share or, if it has folds,
/// takes out fold number `fold`. A share takes at least one sample. Fails with
/// HFTA_INVALID_INPUT if less than one batch is left for training, or a fold
/// would be empty. `whole` must outlive the views. These must be released by
/// hfta_dataset_close, also after a failure.
hfta_status hfta_dataset_divide(const hfta_dataset *whole, int64_t fold,
                                hfta_dataset *train, hfta_dataset *validation,
                                hfta_error *error);

/// The data of a training, without those for testing.
typedef struct hfta_training_data {
  hfta_dataset whole; ///< the files for training
  hfta_dataset train; ///< a view of the samples that copies are trained on
  /// A view, or the files for validation; without either, `sources` is NULL and
  /// `samples` is 0.
  hfta_dataset validation;
} hfta_training_data;

/// Opens the data; `root` is that of hfta_dataset_open, `fold` that of
/// hfta_dataset_divide. Fails with HFTA_INVALID_INPUT if there is less than one
/// batch to train on. `*out` must be released by hfta_training_data_close, also
/// after a failure.
hfta_status hfta_training_data_open(const hfta_program *program,
                                    const char *root, int64_t fold,
                                    hfta_training_data *out, hfta_error *error);

/// Opens the data for testing, and checks that their classes have the names of
/// those of the training data. `*out` must be released by hfta_dataset_close,
/// also after a failure.
hfta_status hfta_test_data_open(const hfta_training_data *training,
                                const char *root, hfta_dataset *out,
                                hfta_error *error);

/// Closes all of the data. Closing twice is allowed.
void hfta_training_data_close(hfta_training_data *data);

/// Returns the bytes of data and lists in memory.
uint64_t hfta_training_data_bytes(const hfta_training_data *data);

#endif // HFTA_SRC_DATA_DIVISION_H
