//===- csv.h - Histories as tables --------------------------------*- C -*-===//

#ifndef HFTA_SRC_INTERCHANGE_CSV_H
#define HFTA_SRC_INTERCHANGE_CSV_H

#include "history/history.h"

#include <stdio.h>

/// Writes a table (RFC 4180, with "\n") with a line for each row of numbers and
/// each run that has some: job, event (step or epoch), step, epoch, the run
/// (copy or trial), fold, hyper-parameters, and all series of all jobs. What a
/// run or row doesn't have is empty; other numbers are nan, inf and -inf.
/// Errors of writing are left in `file`.
void hfta_write_csv(FILE *file, const hfta_histories *histories);

#endif // HFTA_SRC_INTERCHANGE_CSV_H
