//===- cuda_images.h - Loading a program's kernels onto a GPU -----*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_CUDA_IMAGES_H
#define HFTA_SRC_DEVICE_CUDA_CUDA_IMAGES_H

#include "device/cuda/cuda_gpu.h"

/// The kernels of a program, loaded for a chip.
typedef struct hfta_cuda_images {
  hfta_cuda_gpu *gpu; ///< borrowed
  hfta_cu_module *modules;
  uint32_t count;
  bool warp_groups; ///< whether the loaded images contain warp-group kernels
  /// The functions of all tasks in order, one per launch.
  hfta_cu_function *functions;
  uint64_t *first; ///< index of each task's first function
  void *maps; ///< buffer of hfta_cuda_most_map_bytes bytes for the tensor maps
              ///< of the kernel that is being launched (cuda_maps.h)
} hfta_cuda_images;

/// Loads the images that suit the chip best. These are cubins for the chip's
/// major version, with the highest minor version that isn't above the chip's.
/// If there are none, or the driver refuses them, PTX for the highest chip that
/// isn't above this one. Fails with HFTA_UNSUPPORTED if there is no suitable
/// image. The GPU's context must be current. After a failure `out` must be
/// unloaded as well.
hfta_status hfta_cuda_images_load(hfta_cuda_gpu *gpu,
                                  const hfta_program *program,
                                  hfta_cuda_images *out, hfta_error *error);

/// Completes a kernel for the loaded images (hfta_gpu_driver.prepare): fills in
/// its function and, if the images have it for warp groups, its block size,
/// shared memory and tensor maps.
hfta_gpu_result hfta_cuda_images_prepare(hfta_cuda_images *images,
                                         hfta_gpu_kernel *kernel);

/// Unloads the images, if any were loaded. The GPU's context must be current.
void hfta_cuda_images_unload(hfta_cuda_images *images);

#endif // HFTA_SRC_DEVICE_CUDA_CUDA_IMAGES_H
