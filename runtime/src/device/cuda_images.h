//===- cuda_images.h - A program's kernels on a GPU -------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_IMAGES_H
#define HFTA_SRC_DEVICE_CUDA_IMAGES_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

#include <stdbool.h>

/// A GPU, as far as images are concerned.
typedef struct hfta_cuda_chip {
  char name[256];
  int major, minor; ///< compute capability
} hfta_cuda_chip;

/// The kernels of a program, loaded for a chip.
typedef struct hfta_cuda_images {
  const hfta_cuda *cuda;
  hfta_cu_module *modules;
  uint32_t count;
  bool warp_groups;            ///< the kernels are those of warp groups
  hfta_cu_function *functions; ///< task by task, launch by launch
  uint64_t *first;             ///< of each task
} hfta_cuda_images;

/// Loads the images that suit the chip best: cubins of its major version and of
/// the highest minor version up to its own, or else PTX of the highest chip up
/// to it; PTX, too, where the driver refuses the cubins. None suits:
/// HFTA_UNSUPPORTED. The context is current.
hfta_status hfta_cuda_images_load(const hfta_cuda *cuda,
                                  const hfta_program *program,
                                  const hfta_cuda_chip *chip,
                                  hfta_cuda_images *out, hfta_error *error);

/// How a launch's kernel is launched that isn't as in other images; else NULL.
const hfta_warp_group_launch *
hfta_cuda_images_groups(const hfta_cuda_images *images,
                        const hfta_launch *launch);

/// What was loaded, if anything. The context is current.
void hfta_cuda_images_unload(hfta_cuda_images *images);

#endif // HFTA_SRC_DEVICE_CUDA_IMAGES_H
