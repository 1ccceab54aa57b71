//===- cuda_images.h - A program's kernels on a GPU -------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_IMAGES_H
#define HFTA_SRC_DEVICE_CUDA_IMAGES_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

#include <stdbool.h>

/// The properties of a GPU that decide on images.
typedef struct hfta_cuda_chip {
  char name[256];
  int major, minor; ///< compute capability
} hfta_cuda_chip;

/// The kernels of a program, loaded for a chip.
typedef struct hfta_cuda_images {
  const hfta_cuda *cuda;
  hfta_cu_module *modules;
  uint32_t count;
  bool warp_groups; ///< the loaded images have warp-group kernels
  hfta_cu_function
      *functions;  ///< those of all tasks in order, launch by launch
  uint64_t *first; ///< index of each task's first function
} hfta_cuda_images;

/// Loads the images that suit the chip best: cubins for its major version with
/// the highest minor version up to its own; else, or if the driver refuses the
/// cubins, PTX for the highest chip up to it. HFTA_UNSUPPORTED if none suits.
/// The GPU's context must be current.
hfta_status hfta_cuda_images_load(const hfta_cuda *cuda,
                                  const hfta_program *program,
                                  const hfta_cuda_chip *chip,
                                  hfta_cuda_images *out, hfta_error *error);

/// Returns how to launch the kernel if the loaded images have a warp-group
/// version of it; else NULL.
const hfta_warp_group_launch *
hfta_cuda_images_groups(const hfta_cuda_images *images,
                        const hfta_launch *launch);

/// Unloads the images that were loaded, if any. The GPU's context must be
/// current.
void hfta_cuda_images_unload(hfta_cuda_images *images);

#endif // HFTA_SRC_DEVICE_CUDA_IMAGES_H
