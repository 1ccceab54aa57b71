//===- log_board.h - A training in TensorBoard's format -----------*- C -*-===//
//
// Gets what a training's log gets.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_BOARD_H
#define HFTA_SRC_TRAINING_LOG_BOARD_H

#include "training/log.h"

typedef struct hfta_log_board hfta_log_board;

/// Creates the folder and its files. `span` is borrowed.
hfta_status hfta_log_board_open(const char *folder, const hfta_program *program,
                                const hfta_log_span *span, hfta_log_board **out,
                                hfta_error *error);

/// Adds a step's numbers, as hfta_log_step has them. Files are written about
/// once a second.
hfta_status hfta_log_board_step(hfta_log_board *self, int64_t step,
                                const double *losses, const double *terms,
                                const double *rates, hfta_error *error);

/// Adds an epoch's results, and writes the files.
hfta_status hfta_log_board_epoch(hfta_log_board *self,
                                 const hfta_epoch_results *results,
                                 hfta_error *error);

/// Adds how copies have ended, as far as this can be written, and releases the
/// object. NULL is allowed.
void hfta_log_board_close(hfta_log_board *self);

#endif // HFTA_SRC_TRAINING_LOG_BOARD_H
