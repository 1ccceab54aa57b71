//===- cuda_gpu.h - One of a machine's GPUs ---------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_GPU_H
#define HFTA_SRC_DEVICE_CUDA_GPU_H

#include "device/cuda_images.h"

/// A GPU that is in use. Who has it gives the context back to the driver.
typedef struct hfta_cuda_gpu {
  hfta_cu_device device;
  hfta_cu_context context; ///< NULL: the driver has given none
  hfta_cuda_chip chip;
} hfta_cuda_gpu;

/// Takes GPU number `index`. Without a GPU HFTA_UNSUPPORTED, where there are
/// fewer HFTA_USAGE.
hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda, int index,
                               hfta_cuda_gpu *out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_GPU_H
