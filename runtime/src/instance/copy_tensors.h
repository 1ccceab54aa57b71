//===- copy_tensors.h - Tensors of one copy in the host's memory --*- C -*-===//
//
// Copies tensors of one copy, one after the other, between an instance and the
// host's memory. Only those that belong to the copy alone are copied: what all
// copies share can't be that of one of them. With several ranks, each has the
// tensors of its own workers, so that no rank needs another one.
//
// Threads: as for the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_COPY_TENSORS_H
#define HFTA_SRC_INSTANCE_COPY_TENSORS_H

#include "hfta/instance.h"

/// Returns whether a tensor has the flag `flag` (hfta_tensor_flag), belongs to
/// the copy alone, and isn't empty.
bool hfta_tensor_is_own(const hfta_tensor *tensor, uint32_t flag, int64_t copy);

/// Returns the index of the copy's first such tensor from `index` on that this
/// rank has memory for; the number of tensors if there is none.
uint32_t hfta_copy_tensors_next(const hfta_instance *instance, uint32_t flag,
                                uint32_t index, int64_t copy);

/// Returns the size in bytes of these tensors together.
uint64_t hfta_copy_tensors_bytes(const hfta_instance *instance, uint32_t flag,
                                 int64_t copy);

/// Copy these tensors to or from `memory`, of hfta_copy_tensors_bytes bytes.
hfta_status hfta_copy_tensors_read(hfta_instance *instance, uint32_t flag,
                                   int64_t copy, void *memory);
hfta_status hfta_copy_tensors_write(hfta_instance *instance, uint32_t flag,
                                    int64_t copy, const void *memory);

/// Returns a tensor with the flag that all copies share although training
/// changes it, such as the statistics of a normalization of the data
/// themselves; NULL if there is none. Parameters that copies share aren't
/// trained.
const hfta_tensor *hfta_find_shared_state(const hfta_program *program,
                                          uint32_t flag);

#endif // HFTA_SRC_INSTANCE_COPY_TENSORS_H
