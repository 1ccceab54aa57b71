//===- log.h - The metrics log ----------------------------------*- C -*-===//
//
// The log consists of lines of JSON. A line is passed to the system at its end,
// a long one in several pieces, so a crash may leave an incomplete last line; a
// resumed run removes it.
//
//   {"event":"start","name":"sweep","copies":2,"identity":"...","batch":16,
//    "steps_per_epoch":20,"total_steps":200,"steps_done":0,
//    "hyper_parameters":{"lr":[...], ...}}
//   {"event":"step","step":1,"epoch":1,"loss":[...],"lr":[...]}
//   {"event":"epoch","epoch":1,"train_loss":[...],"validation_loss":[...],
//    "validation_accuracy":[...],"eval_loss":[...],"eval_accuracy":[...],
//    "seconds":1.5}
//
// If jobs are named, `"job":"NAME"` follows the event. The log may then contain
// lines of other jobs, which are never removed.
//
// The values of copies that don't run are null. Steps and epochs are counted
// from 1. Each run of a training begins with a start event, whose `steps_done`
// is the step that the run continues from. The entries with `validation_` and
// `eval_` are results on validation and test data. If there are validation
// data, these are evaluated after some epochs and the last step, and the test
// data only after the last step; else the test data after every epoch. Entries
// of data that weren't evaluated are left out, and those with METRIC if the job
// has no metric. `seconds` is how long the epoch took in this process, without
// evaluations.
//
// A regular file is locked, so that two trainings can't write to it. A pipe or
// a device isn't locked or truncated.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_H
#define HFTA_SRC_TRAINING_LOG_H

#include "hfta/instance.h"
#include "hfta/program.h"
#include "hfta/status.h"
#include "progress/epoch_results.h"
#include "training/log_file.h"

#include <stdbool.h>

typedef struct hfta_log hfta_log;

/// The steps of a training's run.
typedef struct hfta_log_span {
  int64_t steps_done;  ///< steps done before this run
  int64_t total_steps; ///< steps at the end of the training
  int64_t steps_per_epoch;
  bool resumed;        ///< whether to keep the log's lines up to `steps_done`
  hfta_log_file *file; ///< an open file that several trainings share, borrowed;
                       ///< NULL: the log opens a file of its own
  const char *job;     ///< the job's name, borrowed; NULL: the log belongs to a
                       ///< single training
  const bool *live; ///< whether each copy runs, borrowed; NULL: all run. Values
                    ///< of the others are null
  const char *board; ///< folder of files for TensorBoard, borrowed; NULL: none
} hfta_log_span;

/// Opens a log and checks its contents, but doesn't change it yet. With a
/// `path` of NULL (and no shared file) the log writes nothing. Fails with
/// HFTA_INVALID_INPUT if the file belongs to another training or is in use, and
/// with HFTA_CANNOT_WRITE if it can't be opened.
hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          const hfta_log_span *span, hfta_log **out,
                          hfta_error *error);

/// Returns whether a resumed log lacks the epoch event of the epoch that ended
/// with the last step done, because the epoch's evaluation was interrupted.
bool hfta_log_lacks_epoch(const hfta_log *log);

/// Empties the log, or removes what follows the steps done if the training is
/// resumed. Then writes the start event.
hfta_status hfta_log_begin(hfta_log *log, hfta_error *error);

/// Writes a step event. Arrays have one element per copy, `terms` those of each
/// term of the loss, one after the other; `reports` are those of the step's
/// update; `scheduled` holds the numbers of hfta_program.scheduled_numbers, for
/// each of them one per copy.
hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *terms,
                          const double *rates, const double *scheduled,
                          const hfta_update_report *reports, hfta_error *error);

/// Writes how often a preconditioner has skipped statistics, retried inverses,
/// or kept old inverses in a step.
hfta_status hfta_log_curvature(hfta_log *log, int64_t step,
                               const hfta_update_report *reports,
                               hfta_error *error);

/// Writes an epoch event.
hfta_status hfta_log_epoch(hfta_log *log, const hfta_epoch_results *results,
                           hfta_error *error);

/// Returns whether the last write failed because the pipe has no reader any
/// more.
bool hfta_log_is_abandoned(const hfta_log *log);

/// Closes the log; NULL is allowed.
void hfta_log_close(hfta_log *log);

#endif // HFTA_SRC_TRAINING_LOG_H
