//===- gpu_hazards.h - Dependences between kernels ---------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_HAZARDS_H
#define HFTA_SRC_DEVICE_GPU_GPU_HAZARDS_H

#include "device/gpu/gpu_launch.h"

#include <stdbool.h>

/// The dependences between the kernels of a sequence. Kernels are added in an
/// order in which they could run one after another.
typedef struct hfta_gpu_hazards {
  struct hfta_gpu_range *ranges; ///< ranges of the operands of all kernels
  size_t range_count, range_capacity;
  size_t *first_range; ///< index of each kernel's first range, then the end
  uint64_t **reached;  ///< for each kernel, a set of bits: the earlier kernels
                       ///< that it waits for, directly or transitively
  size_t *before;      ///< the kernels that the last added kernel waits for
  size_t count, capacity;
} hfta_gpu_hazards;

/// Adds a kernel. `*before` becomes the list of the kernels that it must wait
/// for directly, by their positions in the sequence: kernels that write memory
/// which it reads or writes, or that read memory which it writes. Kernels that
/// it already waits for transitively are left out. The list is valid until the
/// next call. Returns false if there isn't enough memory.
bool hfta_gpu_hazards_add(hfta_gpu_hazards *self, const hfta_gpu_kernel *kernel,
                          const size_t **before, size_t *before_count);

void hfta_gpu_hazards_free(hfta_gpu_hazards *self);

#endif // HFTA_SRC_DEVICE_GPU_GPU_HAZARDS_H
