//===- log.h - The metrics log ----------------------------------*- C -*-===//
//
// JSON lines, each written at once:
//
//   {"event":"step","step":1,"epoch":1,"loss":[...],"lr":[...]}
//   {"event":"epoch","epoch":1,"train_loss":[...],"eval_loss":[...],
//    "eval_accuracy":[...],"seconds":1.5}
//
// Steps and epochs count from 1. The eval entries stand there only if there
// are test data, eval_METRIC only if the job has a metric. `seconds` is the
// epoch's time in this process, without the evaluation.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_LOG_H
#define HFTA_SRC_LOG_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

typedef struct hfta_log hfta_log;

/// Opens a new file, or appends to one: a last line that lacks its end is cut
/// off then. A NULL path makes a log that writes nothing.
hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          bool append, hfta_log **out, hfta_error *error);

hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *rates,
                          hfta_error *error);

/// `eval_losses` and `eval_metrics` may be NULL.
hfta_status hfta_log_epoch(hfta_log *log, int64_t epoch,
                           const double *train_losses,
                           const double *eval_losses,
                           const double *eval_metrics, double seconds,
                           hfta_error *error);

/// NULL is allowed.
void hfta_log_close(hfta_log *log);

#endif // HFTA_SRC_LOG_H
