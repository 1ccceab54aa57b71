//===- averages.h - Running averages in place of weights ----------*- C -*-===//
//
// A program may keep a running average of each trained parameter
// (hfta_tensor.average). Evaluations and exports use the averages by putting
// them in place of the parameters, in the parameters' own type. Statistics of
// normalizations stay those of the training.
//
// Threads: as for the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_AVERAGES_H
#define HFTA_SRC_CHECKPOINT_AVERAGES_H

#include "hfta/instance.h"

#include <stdbool.h>

/// Returns whether a program has averages.
bool hfta_program_averages(const hfta_program *program);

/// Makes the instance load the averages that checkpoints hold in place of the
/// parameters themselves.
void hfta_instance_load_averages(hfta_instance *instance);

/// Returns the average of a parameter, or NULL.
const hfta_tensor *hfta_find_average(const hfta_program *program,
                                     const hfta_tensor *tensor);

/// Converts bytes of an average to the parameter's type: writes the `count`
/// bytes from `offset` on that the parameter's elements have. `average` are all
/// elements of the average.
void hfta_convert_average(const hfta_tensor *parameter,
                          const hfta_tensor *average, const void *from,
                          uint64_t offset, char *bytes, uint64_t count);

/// Parameters that are kept in the host's memory while averages are in their
/// places.
typedef struct hfta_averages {
  hfta_instance *instance; ///< borrowed; NULL: not open
  char *scratch;           ///< room for the largest parameter
  char *wide;              ///< room for the largest average
  char **kept; ///< for each copy its parameters, one after the other
} hfta_averages;

/// Returns the bytes of memory that hfta_averages_open needs for parameters.
uint64_t hfta_averages_bytes(const hfta_program *program);

/// Allocates the memory. Must be released by hfta_averages_close, also after a
/// failure. HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_averages_open(hfta_averages *self, hfta_instance *instance,
                               hfta_error *error);
void hfta_averages_close(hfta_averages *self);

/// Put the averages of all copies in place of their parameters (put), and the
/// parameters back (remove). If putting them fails, parameters that were
/// replaced are put back.
hfta_status hfta_averages_put(hfta_averages *self);
hfta_status hfta_averages_remove(hfta_averages *self);

#endif // HFTA_SRC_CHECKPOINT_AVERAGES_H
