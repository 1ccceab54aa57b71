//===- best_weights.h - Weights of each copy's best evaluation ----*- C -*-===//
//
// A training with `keep best` goes on with the weights of its last step, but
// what it is for are the weights that each copy had at its best evaluation.
// They are kept in the host's memory: the tensors that are exported,
// parameters and statistics, except those that all copies share, which aren't
// trained. With several ranks, each keeps the tensors of its own workers.
//
// Threads: as for the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_BEST_WEIGHTS_H
#define HFTA_SRC_CHECKPOINT_BEST_WEIGHTS_H

#include "hfta/instance.h"

/// The weights that are kept.
typedef struct hfta_best_weights {
  hfta_instance *instance;
  int64_t *steps; ///< for each copy, the step whose weights are kept; 0: none
  char **memory;  ///< for each copy, room for this rank's part of its weights
  char *scratch;  ///< room for the largest tensor
  // Where the tensor is that was looked up last, as files have tensors in their
  // order.
  int64_t found_copy; ///< -1: nowhere
  uint32_t found_tensor;
  uint64_t found_offset; ///< offset in the copy's memory
} hfta_best_weights;

/// Returns whether a tensor belongs to the weights of a copy that are kept.
bool hfta_best_weights_have(const hfta_tensor *tensor, int64_t copy);

/// Returns the bytes that the weights of all copies together have.
uint64_t hfta_best_weights_bytes(const hfta_program *program);

/// Allocates room for the weights of all copies; none are kept yet.
/// HFTA_UNSUPPORTED if there isn't enough memory, or copies share statistics
/// that training changes, so that they can't have those of different steps.
/// Must be released by hfta_best_weights_close, also after a failure.
hfta_status hfta_best_weights_open(hfta_best_weights *self,
                                   hfta_instance *instance, hfta_error *error);
void hfta_best_weights_close(hfta_best_weights *self);

/// Keeps the present weights of a copy, which are those of step number `step`.
/// After a failure the weights that were kept are lost.
hfta_status hfta_best_weights_take(hfta_best_weights *self, int64_t copy,
                                   int64_t step);

/// Exchanges the weights that are kept with those in the instance, for all
/// copies that have any; a second call undoes this. After a failure both are a
/// mixture that can't be used.
hfta_status hfta_best_weights_exchange(hfta_best_weights *self);

/// Returns the place of a tensor that belongs to a copy's weights and that this
/// rank has.
char *hfta_best_weights_find(hfta_best_weights *self, uint32_t tensor,
                             int64_t copy);

#endif // HFTA_SRC_CHECKPOINT_BEST_WEIGHTS_H
