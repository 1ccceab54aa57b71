//===- TensorMaps.h - Tensor maps, and copies of their boxes ----*- C++ -*-===//
//
// A tensor map describes a tensor in memory and the boxes that are copied out
// of it into shared memory. cuTensorMapEncodeTiled of the emulated driver
// writes a format of its own where a GPU's opaque description would be. See
// "CUDA Driver API", "Tensor Map Object Management", and "Parallel Thread
// Execution ISA", "Tensors".
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORMAPS_H
#define HFTA_EMULATION_TENSORMAPS_H

#include "hfta/program.h"

#include <cstdint>

namespace tensor_maps {

/// The bytes of a map.
inline constexpr unsigned kBytes = HFTA_MAP_BYTES;
inline constexpr unsigned kMostDimensions = 5;

/// A tensor, with the innermost dimension first, and the boxes that are copied.
struct Map {
  uint64_t address;
  uint32_t elementBytes; ///< 2 or 4
  uint32_t rank;
  uint32_t swizzleBytes; ///< the swizzle: 32, 64 or 128 bytes; 0: none
  uint64_t sizes[kMostDimensions];
  uint64_t strides[kMostDimensions]; ///< bytes; the first: elementBytes
  uint32_t box[kMostDimensions]; ///< elements that a box spans, including those
                                 ///< that steps skip
  uint32_t steps[kMostDimensions]; ///< one element of each `step` of a box is
                                   ///< copied; the first counts as 1

  /// Returns how many elements are copied along a dimension of a box.
  uint32_t getExtent(unsigned dimension) const;
  uint64_t getBoxBytes() const;
};

/// Writes kBytes, as the driver does. Returns false if the driver would refuse
/// such a map.
bool encode(const Map &map, void *out);

/// Encodes a map from the arguments of cuTensorMapEncodeTiled, as `encode`
/// does; only element types of 16 and 32 bits are supported. Returns the result
/// that the driver's function returns.
int encodeTiled(void *out, int type, uint32_t rank, void *address,
                const uint64_t *sizes, const uint64_t *strides,
                const uint32_t *box, const uint32_t *steps, int interleave,
                int swizzle, int promotion, int fill);

/// Reads a map that `encode` wrote. Returns false if `bytes` hold none.
bool decode(const void *bytes, Map &map);

/// Copies the box at the given coordinates, with zeros where it lies outside
/// the tensor. The units of 16 bytes are swizzled by their addresses.
void copyBox(const Map &map, const int32_t *coordinates, void *to);

} // namespace tensor_maps

#endif // HFTA_EMULATION_TENSORMAPS_H
