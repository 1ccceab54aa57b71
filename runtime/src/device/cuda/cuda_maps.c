//===- cuda_maps.c - Tensor maps of operands ------------------------------===//

#include "device/cuda/cuda_maps.h"

#include <string.h>

/// The most dimensions of a tensor map: those of an operand, and one for its
/// copies.
enum { MOST_DIMENSIONS = HFTA_MAX_MAP_RANK + 1 };

/// The driver requires strides to be multiples of this number of bytes.
enum { STRIDE_BYTES = 16 };

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

uint64_t hfta_cuda_most_map_bytes(const hfta_program *program) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < program->task_count; ++i)
    for (uint32_t j = 0; j < program->tasks[i].launch_count; ++j) {
      const hfta_warp_group_launch *groups =
          program->tasks[i].launches[j].warp_groups;
      if (groups && groups->map_count > most)
        most = groups->map_count;
    }
  return hfta_map_block_bytes(most);
}

/// Returns the driver's swizzle mode for a box whose rows have `row_bytes`
/// bytes in shared memory.
static int swizzle_of(uint64_t row_bytes) {
  switch (row_bytes) {
  case 32:
    return HFTA_CU_MAP_SWIZZLE_32;
  case 64:
    return HFTA_CU_MAP_SWIZZLE_64;
  default:
    return HFTA_CU_MAP_SWIZZLE_128;
  }
}

/// Encodes one tensor map. Copies are the last dimension, in which a box has
/// size 1.
static hfta_cu_result make_map(const hfta_cuda *cuda,
                               const hfta_tensor_map *map, uint64_t address,
                               uint64_t copy_stride, uint64_t copies,
                               hfta_cu_tensor_map *out) {
  uint64_t sizes[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
  uint32_t box[MOST_DIMENSIONS], steps[MOST_DIMENSIONS];
  uint64_t end = map->element_bytes; // the end of one copy's bytes
  for (uint32_t i = 0; i < map->rank; ++i) {
    const hfta_map_dimension *dimension = &map->dimensions[i];
    sizes[i] = dimension->size;
    strides[i] = dimension->stride;
    box[i] = dimension->box;
    steps[i] = dimension->step;
    end += (dimension->size - 1) * dimension->stride;
  }
  sizes[map->rank] = copy_stride > 0 ? copies : 1;
  strides[map->rank] =
      copy_stride > 0 ? copy_stride : round_up(end, STRIDE_BYTES);
  box[map->rank] = steps[map->rank] = 1;
  // The driver takes no stride for the first dimension, since its elements must
  // be contiguous.
  return cuda->tensor_map_encode(
      out, map->element_bytes == 2 ? HFTA_CU_MAP_UINT16 : HFTA_CU_MAP_UINT32,
      map->rank + 1, (void *)(uintptr_t)address, sizes, strides + 1, box, steps,
      HFTA_CU_MAP_NOT_INTERLEAVED,
      swizzle_of((uint64_t)box[0] * map->element_bytes),
      HFTA_CU_MAP_PROMOTION_256, HFTA_CU_MAP_FILL_ZEROS);
}

hfta_cu_result hfta_cuda_make_maps(const hfta_cuda *cuda,
                                   const hfta_launch *launch,
                                   const uint64_t *parameters, uint64_t copies,
                                   void *block) {
  const hfta_warp_group_launch *groups = launch->warp_groups;
  memset(block, 0, hfta_map_block_bytes(groups->map_count));
  hfta_cu_tensor_map *maps = block;
  uint32_t *are_apart = (uint32_t *)(maps + groups->map_count);
  hfta_cu_result result = 0;
  for (uint32_t i = 0; i < groups->map_count && result == 0; ++i) {
    const hfta_tensor_map *map = &groups->maps[i];
    const uint64_t *operand = &parameters[(size_t)2 * map->binding];
    are_apart[i] = operand[1] > 0;
    result = make_map(cuda, map, operand[0], operand[1], copies, &maps[i]);
  }
  return result;
}
