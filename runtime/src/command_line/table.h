//===- table.h - A table with one line per copy -------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TABLE_H
#define HFTA_SRC_COMMAND_LINE_TABLE_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stdio.h>

/// Columns of the table, with one value per copy. Columns that are NULL are
/// left out.
typedef struct hfta_results {
  const bool *live; ///< whether each copy ran; NULL: all did
  const double *train_losses;
  /// The steps of copies' best weights, whose results the following columns
  /// have; a copy with 0 has its last weights. Left out if all are 0.
  const int64_t *best_steps;
  // Behind these losses are those of each of hfta_program.loss_terms.
  const double *validation_losses, *validation_metrics;
  const double *test_losses, *test_metrics;
  /// Those of the running averages of weights.
  const double *average_validation_losses, *average_validation_metrics;
  const double *average_test_losses, *average_test_metrics;
  // The following columns are left out if all their values are 0.
  const double *skipped_statistics;
  const double *retried_inverses;
  const double *kept_inverses;
} hfta_results;

/// Returns whether the table has a column for a hyper-parameter: "lr" always
/// has one, others if copies differ in them.
bool hfta_hyper_parameter_shown(const hfta_program *program, uint32_t index);

/// Prints a line with the names of columns, then one line per copy: its number,
/// hyper-parameters, losses, metrics, and counts. At least two spaces
/// separate columns, and no line ends with a space.
///
/// On a terminal, and if there are results, copies are in the order of
/// ranking.h and marked as in progress_table.h, and only as many are printed as
/// the terminal has room for, while lines may be wider. Elsewhere all are, in
/// the order of their numbers and without marks.
void hfta_print_results(FILE *file, const hfta_program *program,
                        const hfta_results *results);

/// Prints the metrics that are matrices, of the copies that are `live` (NULL:
/// of all), each after an empty line and a heading. `data` names the data.
/// `metrics` may be NULL if the program has none.
void hfta_print_matrices(FILE *file, const hfta_program *program,
                         const char *data, const double *metrics,
                         const bool *live);

#endif // HFTA_SRC_COMMAND_LINE_TABLE_H
