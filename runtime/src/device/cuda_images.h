//===- cuda_images.h - Loading a program's kernels onto a GPU -----*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_IMAGES_H
#define HFTA_SRC_DEVICE_CUDA_IMAGES_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

#include <stdbool.h>

/// The properties of a GPU that decide which images it can run.
typedef struct hfta_cuda_chip {
  char name[256];
  int major, minor; ///< the compute capability
} hfta_cuda_chip;

/// The kernels of a program, loaded for a chip.
typedef struct hfta_cuda_images {
  const hfta_cuda *cuda;
  hfta_cu_module *modules;
  uint32_t count;
  bool warp_groups; ///< whether the loaded images contain warp-group kernels
  /// The functions of all tasks in order, one per launch.
  hfta_cu_function *functions;
  uint64_t *first; ///< index of each task's first function
} hfta_cuda_images;

/// Loads the images that suit the chip best. These are cubins for the chip's
/// major version, with the highest minor version that isn't above the chip's.
/// If there are none, or the driver refuses them, PTX for the highest chip that
/// isn't above this one. Fails with HFTA_UNSUPPORTED if there is no suitable
/// image. The GPU's context must be current. After a failure `out` must be
/// unloaded as well.
hfta_status hfta_cuda_images_load(const hfta_cuda *cuda,
                                  const hfta_program *program,
                                  const hfta_cuda_chip *chip,
                                  hfta_cuda_images *out, hfta_error *error);

/// Returns how to launch the warp-group version of a kernel; NULL if the loaded
/// images have no such version.
const hfta_warp_group_launch *
hfta_cuda_images_groups(const hfta_cuda_images *images,
                        const hfta_launch *launch);

/// Unloads the images, if any were loaded. The GPU's context must be current.
void hfta_cuda_images_unload(hfta_cuda_images *images);

#endif // HFTA_SRC_DEVICE_CUDA_IMAGES_H
