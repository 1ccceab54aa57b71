//===- cuda_maps.h - Operands that a GPU copies box by box ------*- C -*-===//
//
// A kernel whose operands are copied so has one parameter more: a block of
// bytes. It holds a tensor map of each of these operands, then a number of 32
// bits for each: 1 where its copies lie apart, 0 where all copies share it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_MAPS_H
#define HFTA_SRC_DEVICE_CUDA_MAPS_H

#include "device/cuda_driver.h"
#include "hfta/program.h"

/// What a block's place and its bytes are a multiple of.
#define HFTA_CUDA_MAP_ALIGNMENT 64u

/// The bytes of the block of so many maps.
uint64_t hfta_cuda_map_bytes(uint32_t map_count);

/// Those of the launch of a program that has most; 0: none has maps.
uint64_t hfta_cuda_most_map_bytes(const hfta_program *program);

/// Fills the block of a launch that has maps. `parameters` are an address and a
/// distance from copy to copy of each operand, of so many copies. What the
/// driver returns.
hfta_cu_result hfta_cuda_make_maps(const hfta_cuda *cuda,
                                   const hfta_launch *launch,
                                   const uint64_t *parameters, uint64_t copies,
                                   void *block);

#endif // HFTA_SRC_DEVICE_CUDA_MAPS_H
