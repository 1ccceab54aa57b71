//===- cuda_device.c - NVIDIA GPUs as devices -----------------------------===//

#include "device/cuda/cuda_device.h"

#include "device/cuda/cuda_gpu.h"
#include "device/gpu/gpu_device.h"

static hfta_status cuda_open(const hfta_device_options *options,
                             hfta_device **out, hfta_error *error) {
  return hfta_gpu_device_open(&hfta_device_cuda, &hfta_cuda_functions, options,
                              out, error);
}

const hfta_device_functions hfta_device_cuda = {
    .kind = "cuda",
    .open = cuda_open,
    .scratch_bytes = hfta_gpu_scratch_bytes,
};

const hfta_target hfta_target_cuda = {
    .name = "cuda",
    .device = &hfta_device_cuda,
    .default_device = "cuda:0",
    .device_help = "device to compute on: cuda:0 (default) or cuda:K",
    .measuring_device_help =
        "device to compute on: cuda:0 (default), cuda:K, or\n" HFTA_PACED_HELP,
    .noun = "a GPU",
    .has_images = true,
    .all_at_once = true,
    .steps_ahead = HFTA_DEVICE_MARKS - 1,
};
