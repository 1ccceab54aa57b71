//===- cuda_device.h - NVIDIA GPUs as devices ---------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_CUDA_DEVICE_H
#define HFTA_SRC_DEVICE_CUDA_CUDA_DEVICE_H

#include "device/target.h"

extern const hfta_device_functions hfta_device_cuda;
extern const hfta_target hfta_target_cuda;

#endif // HFTA_SRC_DEVICE_CUDA_CUDA_DEVICE_H
