//===- board.h - Runs in TensorBoard's format ---------------------*- C -*-===//
//
// A folder has one folder a run, "copy-0003" or "trial-0003", each with event
// files, and a file of its own that tells the plugin `hparams` which
// hyper-parameters and metrics there are. A training that is resumed adds
// files. Nothing names the machine.
//
// Records are collected in memory and appended at each flush, so that any
// number of runs needs no open files.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INTERCHANGE_BOARD_H
#define HFTA_SRC_INTERCHANGE_BOARD_H

#include "history/history.h"

typedef struct hfta_board hfta_board;

/// How a run has ended.
typedef enum hfta_board_end {
  HFTA_BOARD_SUCCESS = 1,
  HFTA_BOARD_FAILURE = 2, ///< it has diverged, or the training has failed
  HFTA_BOARD_RUNNING = 3  ///< it can go on, as after Ctrl-C
} hfta_board_end;

/// Creates the folder and the file about all runs, for `runs` of them at most.
/// `described` has the settings; its rows don't matter, and nothing of it is
/// kept. `metrics` are the tags of the numbers by which runs are compared,
/// `metric_count` of them. Steps from `first_step` on replace those of earlier
/// files. `time` is in seconds since 1970. HFTA_CANNOT_WRITE names the folder
/// or file.
hfta_status hfta_board_open(const char *folder, const hfta_history *described,
                            int64_t runs, const char *const *metrics,
                            int64_t metric_count, int64_t first_step,
                            double time, hfta_board **out, hfta_error *error);

/// Adds a run's settings, those of run `run` of `described`.
void hfta_board_begin_run(hfta_board *self, const hfta_history *described,
                          int64_t run, double time);

/// Adds a number of a run. `fold` is that of a cross-validation, whose numbers
/// are in folders of their own for folds above 0.
void hfta_board_put(hfta_board *self, int64_t run, int64_t fold,
                    const char *tag, int64_t step, double value, double time);

/// Adds how a run has ended.
void hfta_board_end_run(hfta_board *self, int64_t run, hfta_board_end end,
                        double time);

/// Appends what was added to the files. HFTA_CANNOT_WRITE names the file, or
/// HFTA_UNSUPPORTED says that memory ran out.
hfta_status hfta_board_flush(hfta_board *self, hfta_error *error);

/// Releases the object; what wasn't flushed is lost. NULL is allowed.
void hfta_board_close(hfta_board *self);

/// The bytes of the longest tag, with the final 0.
enum { HFTA_TAG_BYTES = 320 };

/// Writes the tag of a log's series: "loss/train" for a step's "loss",
/// "accuracy/validation" for an epoch's "validation_accuracy", "learning_rate"
/// for "lr". Returns `out`.
const char *hfta_board_tag(const char *series, hfta_rows_kind kind,
                           char out[HFTA_TAG_BYTES]);

/// Writes a history to a folder. Times are those of the ends of epochs, and
/// between them. `metric` is the series by which runs are compared, or NULL.
hfta_status hfta_board_write(const char *folder, const hfta_history *history,
                             const hfta_series *metric, hfta_error *error);

#endif // HFTA_SRC_INTERCHANGE_BOARD_H
