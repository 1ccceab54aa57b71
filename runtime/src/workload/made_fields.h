//===- made_fields.h - Fields that the runtime makes --------------*- C -*-===//
//
// Tasks that augment samples read fields that no file holds: keys, which decide
// what is drawn for a sample, and the values of a sample's partner.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_WORKLOAD_MADE_FIELDS_H
#define HFTA_SRC_WORKLOAD_MADE_FIELDS_H

#include "hfta/program.h"

/// Returns the position in the batch of the partner of the sample at
/// `position`: the sample before it, and for the first one the last.
int64_t hfta_partner_of(const hfta_program *program, int64_t position);

/// Writes the keys of a whole batch. `field` is an index into
/// hfta_program.data_fields, of kind HFTA_DATA_FIELD_KEYS. `samples` has a
/// number for each sample of the batch, which stands for it in the epoch. `out`
/// has a row for each sample.
void hfta_write_keys(const hfta_program *program, uint32_t field,
                     const int64_t *samples, int64_t epoch, int64_t *out);

/// Copies the partners' values of a whole batch, for a field of kind
/// HFTA_DATA_FIELD_PARTNERS. `values` and `out` are the whole batch of the
/// field that it is of, and its own.
void hfta_copy_partners(const hfta_program *program, uint32_t field,
                        const void *values, void *out);

#endif // HFTA_SRC_WORKLOAD_MADE_FIELDS_H
