//===- log.h - The metrics log ----------------------------------*- C -*-===//
//
// JSON lines, each of which is handed to the system when it ends, a long one in
// pieces. If a crash has cut a line off, a resumed run removes it.
//
//   {"event":"start","name":"sweep","copies":2,"identity":"...","batch":16,
//    "steps_per_epoch":20,"total_steps":200,"steps_done":0,
//    "hyper_parameters":{"lr":[...], ...}}
//   {"event":"step","step":1,"epoch":1,"loss":[...],"lr":[...]}
//   {"event":"epoch","epoch":1,"train_loss":[...],"eval_loss":[...],
//    "eval_accuracy":[...],"seconds":1.5}
//
// If jobs are named, `"job":"NAME"` follows the event, and the log may have
// lines of other jobs, which stay.
//
// The values of a copy that doesn't run are null. Steps and epochs count from
// 1. Each run of a training begins with a start event, whose `steps_done` is
// the step that it continues from. The eval entries are written only if there
// are test data, eval_METRIC only if the job has a metric. `seconds` is the
// epoch's time in this process, without the evaluation.
//
// A regular file is locked: two trainings can't write to it. A pipe or a device
// is only written to.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_LOG_H
#define HFTA_SRC_TRAINING_LOG_H

#include "hfta/instance.h"
#include "hfta/program.h"
#include "hfta/status.h"
#include "training/log_file.h"

#include <stdbool.h>

typedef struct hfta_log hfta_log;

/// The first and last step of a training.
typedef struct hfta_log_span {
  int64_t steps_done;
  int64_t total_steps;
  int64_t steps_per_epoch;
  bool resumed;        ///< keep the lines up to `steps_done`
  hfta_log_file *file; ///< a borrowed file of several trainings; NULL: the log
                       ///< opens its own
  const char *job;     ///< borrowed; NULL: the log belongs to a single training
  const bool *live; ///< one per copy, borrowed: values of copies that don't run
                    ///< are null; NULL: all run
} hfta_log_span;

/// Opens a file and checks it, but doesn't change it yet. A NULL path makes a
/// log that writes nothing.
hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          const hfta_log_span *span, hfta_log **out,
                          hfta_error *error);

/// Whether a resumed log lacks the event of the epoch that ends with the steps
/// done, because its evaluation was interrupted.
bool hfta_log_lacks_epoch(const hfta_log *log);

/// Empties the file, or removes the lines after the steps done and an
/// incomplete last line, and writes the start event.
hfta_status hfta_log_begin(hfta_log *log, hfta_error *error);

/// Writes a step event. `reports` are those of the step's update; `dampings` is
/// NULL without a preconditioner.
hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *rates,
                          const double *dampings,
                          const hfta_update_report *reports, hfta_error *error);

/// Writes how often a preconditioner has, in a step, skipped statistics,
/// retried inverses or kept old ones.
hfta_status hfta_log_curvature(hfta_log *log, int64_t step,
                               const hfta_update_report *reports,
                               hfta_error *error);

/// Writes an epoch event. `eval_losses` and `eval_metrics` may be NULL.
hfta_status hfta_log_epoch(hfta_log *log, int64_t epoch,
                           const double *train_losses,
                           const double *eval_losses,
                           const double *eval_metrics, double seconds,
                           hfta_error *error);

/// Whether the last write failed because the pipe has no reader any more.
bool hfta_log_is_abandoned(const hfta_log *log);

/// Closes the log; NULL is allowed.
void hfta_log_close(hfta_log *log);

#endif // HFTA_SRC_TRAINING_LOG_H
