//===- table.h - One line a copy --------------------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_TABLE_H
#define HFTA_SRC_COMMANDS_TABLE_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stdio.h>

/// Columns of numbers with one value per copy. NULL arrays are left out.
typedef struct hfta_results {
  const bool *live; ///< whether a copy ran; NULL: all did
  const double *train_losses;
  const double *test_losses;
  const double *metrics;
  // Shown unless all are 0.
  const double *skipped_statistics;
  const double *retried_inverses;
  const double *kept_inverses;
} hfta_results;

/// Whether copies differ in a hyper-parameter; "lr" is always shown.
int hfta_hyper_parameter_shown(const hfta_program *program, uint32_t index);

/// Prints a line of names, then one per copy: number, hyper-parameters that
/// differ, losses, and the metric last. Columns are separated by two spaces or
/// more; no line ends with a space.
void hfta_print_results(FILE *file, const hfta_program *program,
                        const hfta_results *results);

#endif // HFTA_SRC_COMMANDS_TABLE_H
