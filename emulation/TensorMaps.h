//===- TensorMaps.h - Tensor maps, and copies of their boxes ----*- C++ -*-===//
//
// A tensor map describes a tensor in device memory and the size of the boxes
// that bulk copies (BulkCopies.h) bring from it into shared memory. A GPU's
// tensor maps are opaque; cuTensorMapEncodeTiled of the emulated driver writes
// its own format. See "CUDA Driver API", "Tensor Map Object Management", and
// "Parallel Thread Execution ISA", "Tensors".
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_TENSORMAPS_H
#define HFTA_EMULATION_TENSORMAPS_H

#include "hfta/program.h"

#include <cstdint>

namespace tensor_maps {

/// The size of an encoded map, in bytes.
inline constexpr unsigned kBytes = HFTA_MAP_BYTES;
inline constexpr unsigned kMostDimensions = 5;

/// A decoded tensor map. Dimension 0 is the innermost one.
struct Map {
  uint64_t address;      ///< the device address of the tensor's first element
  uint32_t elementBytes; ///< 2 or 4
  uint32_t rank;
  uint32_t swizzleBytes; ///< the swizzle: 32, 64 or 128 bytes; 0: none
  uint64_t sizes[kMostDimensions];   ///< the tensor's shape, in elements
  uint64_t strides[kMostDimensions]; ///< in bytes; strides[0] is elementBytes
  uint32_t box[kMostDimensions];   ///< how many of the tensor's elements a box
                                   ///< spans, including skipped ones
  uint32_t steps[kMostDimensions]; ///< the distance of copied elements in a
                                   ///< box, in elements; steps[0] is ignored

  /// Returns how many elements of a box are copied along a dimension.
  uint32_t getExtent(unsigned dimension) const;
  /// Returns the bytes of shared memory that a box takes.
  uint64_t getBoxBytes() const;
};

/// Writes kBytes bytes to `out`, which must be aligned to 64 bytes. Returns
/// false, and writes nothing, if NVIDIA's driver would refuse the map.
bool encode(const Map &map, void *out);

/// Encodes a map from the arguments of cuTensorMapEncodeTiled. Supports only
/// the element types UINT16 and UINT32, without interleaving, and zeros as
/// fill. Returns a CUresult: 0, or CUDA_ERROR_INVALID_VALUE.
int encodeTiled(void *out, int type, uint32_t rank, void *address,
                const uint64_t *sizes, const uint64_t *strides,
                const uint32_t *box, const uint32_t *steps, int interleave,
                int swizzle, int promotion, int fill);

/// Reads a map of kBytes bytes. Returns false if it wasn't written by `encode`.
bool decode(const void *bytes, Map &map);

/// Copies a box to the shared memory at `to`. The box begins at these
/// coordinates, one for each dimension, in elements. Elements outside of the
/// tensor become zeros. Within each row of `swizzleBytes` the 16-byte units are
/// permuted, depending on the address in shared memory, as on a GPU.
void copyBox(const Map &map, const int32_t *coordinates, void *to);

} // namespace tensor_maps

#endif // HFTA_EMULATION_TENSORMAPS_H
