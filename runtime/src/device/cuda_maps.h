//===- cuda_maps.h - Operands that a GPU copies box by box ------*- C -*-===//
//
// A kernel whose operands are copied so has one parameter more: a block of maps
// (hfta_warp_group_launch).
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MAPS_H
#define HFTA_SRC_DEVICE_CUDA_MAPS_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

/// Of the block of the launch of a program that has most maps; 0: none has any.
uint64_t hfta_cuda_most_map_bytes(const hfta_program *program);

/// Fills the block of a launch that has maps. `parameters` are an address and a
/// distance from copy to copy of each operand, of so many copies. What the
/// driver returns.
hfta_cu_result hfta_cuda_make_maps(const hfta_cuda *cuda,
                                   const hfta_launch *launch,
                                   const uint64_t *parameters, uint64_t copies,
                                   void *block);

#endif // HFTA_SRC_DEVICE_CUDA_MAPS_H
