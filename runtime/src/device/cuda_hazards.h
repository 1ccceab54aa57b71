//===- cuda_hazards.h - Which kernels wait for which ------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_HAZARDS_H
#define HFTA_SRC_DEVICE_CUDA_HAZARDS_H

#include "device/cuda_launch.h"

#include <stdbool.h>

/// Kernels in an order in which they are right one after the other.
typedef struct hfta_cuda_hazards {
  struct hfta_cuda_range *ranges; ///< of all kernels' operands
  size_t range_count, range_capacity;
  size_t *first_range; ///< of each kernel, and the end
  uint64_t **reached;  ///< of each kernel a bit for each one before it
  size_t *before;      ///< of the last kernel
  size_t count, capacity;
} hfta_cuda_hazards;

/// Adds a kernel. `before` are the kernels, by number, that it has to wait for
/// because they write what it reads or writes, or read what it writes, without
/// those for which others of them wait; they live until the next call. False
/// without memory.
bool hfta_cuda_hazards_add(hfta_cuda_hazards *self,
                           const hfta_cuda_kernel *kernel,
                           const size_t **before, size_t *before_count);

void hfta_cuda_hazards_free(hfta_cuda_hazards *self);

#endif // HFTA_SRC_DEVICE_CUDA_HAZARDS_H
