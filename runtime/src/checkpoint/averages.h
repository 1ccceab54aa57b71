//===- averages.h - Averages in place of weights ------------------*- C -*-===//
//
// A program may keep a running average of each trained parameter
// (hfta_tensor.average), or an optimizer may average parameters itself and keep
// what the average differs by (HFTA_TENSOR_OFFSET). Evaluations and exports use
// averages by putting them in place of the parameters, in the parameters' own
// type. Statistics of normalizations stay those of the training.
//
// Running averages are evaluated beside the weights; those of optimizers always
// take the weights' places.
//
// Threads: as for the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_AVERAGES_H
#define HFTA_SRC_CHECKPOINT_AVERAGES_H

#include "hfta/instance.h"

#include <stdbool.h>

/// Returns whether a program has running averages.
bool hfta_program_averages(const hfta_program *program);
/// Returns whether optimizers of a program average parameters themselves.
bool hfta_program_adds_offsets(const hfta_program *program);

/// Makes the instance load the averages that checkpoints hold in place of the
/// parameters themselves.
void hfta_instance_load_averages(hfta_instance *instance);

/// Makes the instance load what evaluations use in place of the parameters
/// themselves, where optimizers average them. Best weights are such averages
/// already.
void hfta_instance_add_offsets(hfta_instance *instance);

/// Returns what a loaded parameter of a copy is replaced by; NULL: nothing.
const hfta_tensor *hfta_find_loaded_average(const hfta_instance *instance,
                                            const hfta_tensor *tensor,
                                            int64_t copy);

/// Computes bytes of a parameter's average, in the parameter's type: writes the
/// `count` bytes from `offset` on that its elements have. `parameter` and
/// `average` are the two tensors, `own` and `from` all elements of them.
void hfta_convert_average(const hfta_tensor *parameter,
                          const hfta_tensor *average, const void *own,
                          const void *from, uint64_t offset, char *bytes,
                          uint64_t count);

/// Parameters that are kept in the host's memory while averages are in their
/// places.
typedef struct hfta_averages {
  hfta_instance *instance; ///< borrowed; NULL: not open
  char *scratch;           ///< room for the largest parameter
  char *wide;              ///< room for the largest average
  /// For each copy its parameters, one after the other; NULL: it has no
  /// averages.
  char **kept;
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
/// replaced are put back. Do nothing if `self` isn't open.
hfta_status hfta_averages_put(hfta_averages *self);
hfta_status hfta_averages_remove(hfta_averages *self);

#endif // HFTA_SRC_CHECKPOINT_AVERAGES_H
