//===- cuda_hazards.h - Which kernels wait for which ------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_HAZARDS_H
#define HFTA_SRC_DEVICE_CUDA_HAZARDS_H

#include "device/cuda_launch.h"

#include <stdbool.h>

/// The dependences of a sequence of kernels, whose order is a correct one.
typedef struct hfta_cuda_hazards {
  struct hfta_cuda_range *ranges; ///< the operands of all kernels
  size_t range_count, range_capacity;
  size_t *first_range; ///< index of each kernel's first range, and the end
  uint64_t **reached;  ///< for each kernel, a bit for each earlier one that it
                       ///< waits for, directly or not
  size_t *before;      ///< the kernels that the last kernel waits for
  size_t count, capacity;
} hfta_cuda_hazards;

/// Adds a kernel. `before` becomes the numbers of the kernels that it has to
/// wait for, because they write memory that it reads or writes, or read memory
/// that it writes; kernels for which others in the list already wait are left
/// out. The list lives until the next call. Returns false if memory runs out.
bool hfta_cuda_hazards_add(hfta_cuda_hazards *self,
                           const hfta_cuda_kernel *kernel,
                           const size_t **before, size_t *before_count);

void hfta_cuda_hazards_free(hfta_cuda_hazards *self);

#endif // HFTA_SRC_DEVICE_CUDA_HAZARDS_H
