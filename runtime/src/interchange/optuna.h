//===- optuna.h - Studies in Optuna's format ----------------------*- C -*-===//
//
// A journal of optuna.storages.JournalFileBackend: JSON lines, of which the
// operations 0 (a study) and 4 (a trial with all that is known) are written.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INTERCHANGE_OPTUNA_H
#define HFTA_SRC_INTERCHANGE_OPTUNA_H

#include "history/objective.h"

#include <stdio.h>

/// Writes a job as a study of its name, with a trial a run. `number` is the
/// study's among those of the file, from 0. A run is complete, pruned if its
/// search has dropped it, failed if its value isn't finite, or else still
/// running. Values after epochs are intermediate values; those that aren't
/// finite are left out. Errors of writing are left in `file`.
void hfta_write_optuna(FILE *file, const hfta_history *history,
                       const hfta_objective *objective, int64_t number);

#endif // HFTA_SRC_INTERCHANGE_OPTUNA_H
