//===- cuda_gpu.h - One of a machine's GPUs ---------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_CUDA_GPU_H
#define HFTA_SRC_DEVICE_CUDA_CUDA_GPU_H

#include "device/cuda/cuda_driver.h"
#include "device/gpu/gpu_driver.h"

/// The properties of a GPU that decide which images it can run.
typedef struct hfta_cuda_chip {
  char name[256];
  int major, minor; ///< the compute capability
} hfta_cuda_chip;

/// An open GPU of NVIDIA's. Its owner must release the context.
typedef struct hfta_cuda_gpu {
  hfta_gpu base;
  const hfta_cuda *cuda; ///< borrowed
  hfta_cu_device device;
  hfta_cu_context context; ///< the primary context; NULL if it wasn't retained
  hfta_cuda_chip chip;
} hfta_cuda_gpu;

/// The functions of NVIDIA's driver as the device for GPUs calls them. Their
/// GPUs are hfta_cuda_gpu, their code is hfta_cuda_images.
extern const hfta_gpu_driver hfta_cuda_functions;

/// Returns the result of a driver call, whose name is `call`.
hfta_gpu_result hfta_cuda_result(const char *call, hfta_cu_result code);

/// Opens GPU number `index`, which `functions` will drive, and retains its
/// primary context. Fails with
/// HFTA_UNSUPPORTED if there is no GPU, with HFTA_USAGE if `index` is too
/// large, and with HFTA_INTERNAL if a driver call fails. `out` may hold a
/// context even after a failure.
hfta_status hfta_cuda_take_gpu(const hfta_cuda *cuda,
                               const hfta_gpu_driver *functions, int index,
                               hfta_cuda_gpu *out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_CUDA_GPU_H
