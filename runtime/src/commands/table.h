//===- table.h - One line a copy --------------------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_TABLE_H
#define HFTA_SRC_COMMANDS_TABLE_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stdio.h>

/// Columns of numbers, one value a copy. NULL arrays are left out.
typedef struct hfta_results {
  const bool *live; ///< whether a copy ran; NULL: all did
  const double *train_losses;
  const double *test_losses;
  const double *metrics;
  // Shown where they aren't all zero.
  const double *skipped_statistics;
  const double *retried_inverses;
  const double *kept_inverses;
} hfta_results;

/// Whether copies differ in a hyper-parameter; "lr" always counts.
int hfta_hyper_parameter_shown(const hfta_program *program, uint32_t index);

/// A line of names, then one a copy: number, hyper-parameters that differ,
/// losses, metric last. Columns are separated by two spaces or more; no line
/// ends with a space.
void hfta_print_results(FILE *file, const hfta_program *program,
                        const hfta_results *results);

#endif // HFTA_SRC_COMMANDS_TABLE_H
