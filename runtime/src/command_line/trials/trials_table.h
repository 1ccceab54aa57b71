//===- trials_table.h - How a search stands ---------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_TRIALS_TABLE_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_TRIALS_TABLE_H

#include "tuning/study.h"

#include <stdio.h>

/// Prints a table of the best `most` trials (0: all), with one line per trial:
/// rank, number, score, what has become of it and why, and its settings. At
/// least two spaces separate columns, and no line ends with a space.
void hfta_print_trials(FILE *file, const hfta_study *study, int64_t most);

/// Writes all trials as one JSON object, the best one first.
hfta_status hfta_write_trials_json(FILE *file, const hfta_study *study,
                                   hfta_error *error);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_TRIALS_TABLE_H
