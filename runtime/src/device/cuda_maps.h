//===- cuda_maps.h - Operands that a GPU copies box by box ------*- C -*-===//
//
// A kernel that copies operands box by box through tensor maps has one more
// parameter: a block of maps (see hfta_warp_group_launch).
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MAPS_H
#define HFTA_SRC_DEVICE_CUDA_MAPS_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

/// Returns the size of the largest block of maps that any launch of a program
/// needs; 0 if none needs maps.
uint64_t hfta_cuda_most_map_bytes(const hfta_program *program);

/// Fills the block of a launch that has maps. `parameters` holds an address and
/// a stride from copy to copy for each operand, for `copies` copies. Returns
/// the driver's result.
hfta_cu_result hfta_cuda_make_maps(const hfta_cuda *cuda,
                                   const hfta_launch *launch,
                                   const uint64_t *parameters, uint64_t copies,
                                   void *block);

#endif // HFTA_SRC_DEVICE_CUDA_MAPS_H
