//===- copies_json.h - Numbers of copies as JSON ----------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_COPIES_JSON_H
#define HFTA_SRC_TRAINING_COPIES_JSON_H

#include "hfta/json.h"
#include "hfta/program.h"

#include <stdbool.h>

/// Writes a list of one number per copy under a key, with as many digits as a
/// number of `type` needs to be read back exactly. The numbers of copies that
/// aren't `live` become null; `live` may be NULL: all are.
void hfta_put_copies(hfta_json_writer *writer, const hfta_program *program,
                     const char *key, const double *values,
                     hfta_element_type type, const bool *live);

/// Writes such a list for each term of the loss, unless `terms` is NULL. Keys
/// are PREFIXloss_TERM.
void hfta_put_terms(hfta_json_writer *writer, const hfta_program *program,
                    const char *prefix, const double *terms, const bool *live);

/// Writes the losses and metrics of an evaluation, unless they are NULL, under
/// keys such as DATA_loss and DATA_accuracy. For a metric that is a matrix, the
/// list has a list of rows for each copy.
void hfta_put_evaluation(hfta_json_writer *writer, const hfta_program *program,
                         const char *data, const double *losses,
                         const double *metrics, const bool *live);

#endif // HFTA_SRC_TRAINING_COPIES_JSON_H
