//===- cuda_maps.h - Tensor maps of operands ----------------------*- C -*-===//
//
// Tensor maps, by which a GPU's TMA unit copies boxes of an operand to shared
// memory. A kernel that uses them has one more parameter: a block of maps (see
// hfta_warp_group_launch).
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_CUDA_MAPS_H
#define HFTA_SRC_DEVICE_CUDA_CUDA_MAPS_H

#include "device/cuda/cuda_driver.h"
#include "hfta/program.h"

/// Returns the bytes of the largest block of maps that any launch of a program
/// needs; 0 if no launch needs maps.
uint64_t hfta_cuda_most_map_bytes(const hfta_program *program);

/// Fills the block of maps of a launch. `parameters` holds, for each operand,
/// its address and the stride in bytes from copy to copy; the launch is for
/// `copies` copies. Returns the driver's result.
hfta_cu_result hfta_cuda_make_maps(const hfta_cuda *cuda,
                                   const hfta_launch *launch,
                                   const uint64_t *parameters, uint64_t copies,
                                   void *block);

#endif // HFTA_SRC_DEVICE_CUDA_CUDA_MAPS_H
