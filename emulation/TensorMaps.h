//===- TensorMaps.h - Tensors of which boxes are copied ---------*- C++ -*-===//
//
// What cuTensorMapEncodeTiled writes here, where a GPU's own description would
// be, and how a box comes from a tensor into shared memory. "CUDA Driver API",
// "Tensor Map Object Management"; "Parallel Thread Execution ISA", "Tensors".
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORMAPS_H
#define HFTA_EMULATION_TENSORMAPS_H

#include "hfta/program.h"

#include <cstdint>

namespace tensor_maps {

/// Bytes of a map.
inline constexpr unsigned kBytes = HFTA_MAP_BYTES;
inline constexpr unsigned kMostDimensions = 5;

/// A tensor, the innermost dimension first, and the boxes that are copied.
struct Map {
  uint64_t address;
  uint32_t elementBytes; ///< 2 or 4
  uint32_t rank;
  uint32_t swizzleBytes; ///< of rows whose units are turned: 32, 64 or 128; 0:
                         ///< nothing is turned
  uint64_t sizes[kMostDimensions];
  uint64_t strides[kMostDimensions]; ///< bytes; the first: elementBytes
  uint32_t box[kMostDimensions];     ///< elements of a box, times the step
  uint32_t steps[kMostDimensions];   ///< every so many'th element of a box is
                                     ///< copied; the first counts as 1

  /// Elements that a box has along a dimension.
  uint32_t getExtent(unsigned dimension) const;
  uint64_t getBoxBytes() const;
};

/// Writes kBytes, as the driver does. False if it refuses such a map.
bool encode(const Map &map, void *out);

/// The same for the arguments of cuTensorMapEncodeTiled, of whose types 16 and
/// 32 bits are known. Returns what that does.
int encodeTiled(void *out, int type, uint32_t rank, void *address,
                const uint64_t *sizes, const uint64_t *strides,
                const uint32_t *box, const uint32_t *steps, int interleave,
                int swizzle, int promotion, int fill);

/// Reads what `encode` wrote. False if that isn't there.
bool decode(const void *bytes, Map &map);

/// Copies the box at some coordinates, zeros where it isn't in the tensor. Of
/// the units of 16 bytes those of a line change places, by their addresses.
void copyBox(const Map &map, const int32_t *coordinates, void *to);

} // namespace tensor_maps

#endif // HFTA_EMULATION_TENSORMAPS_H
