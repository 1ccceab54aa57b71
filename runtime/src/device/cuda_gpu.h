//===- cuda_gpu.h - One of a machine's GPUs ---------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_GPU_H
#define HFTA_SRC_DEVICE_CUDA_GPU_H

#include "device/cuda_images.h"

/// A GPU in use. Its owner gives the context back to the driver.
typedef struct hfta_cuda_gpu {
  hfta_cu_device device;
  hfta_cu_context context; ///< NULL while the driver has given none
  hfta_cuda_chip chip;
} hfta_cuda_gpu;

/// Opens GPU number `index`. No GPU at all is HFTA_UNSUPPORTED, too few GPUs
/// are HFTA_USAGE.
hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda, int index,
                               hfta_cuda_gpu *out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_GPU_H
