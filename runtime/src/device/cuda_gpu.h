//===- cuda_gpu.h - One of a machine's GPUs ---------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_GPU_H
#define HFTA_SRC_DEVICE_CUDA_GPU_H

#include "device/cuda_images.h"

/// An open GPU. Its owner must release the context.
typedef struct hfta_cuda_gpu {
  hfta_cu_device device;
  hfta_cu_context context; ///< the primary context; NULL if it wasn't retained
  hfta_cuda_chip chip;
} hfta_cuda_gpu;

/// Opens GPU number `index` and retains its primary context. Fails with
/// HFTA_UNSUPPORTED if there is no GPU, with HFTA_USAGE if `index` is too
/// large, and with HFTA_INTERNAL if a driver call fails. `out` may hold a
/// context even after a failure.
hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda, int index,
                               hfta_cuda_gpu *out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_GPU_H
