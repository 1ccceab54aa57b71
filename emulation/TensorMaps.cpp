//===- TensorMaps.cpp - Tensor maps, and copies of their boxes ------------===//

#include "TensorMaps.h"

#include <algorithm>
#include <cstring>

using namespace tensor_maps;

/// The size of the units that a swizzle permutes, and the alignment of
/// addresses and strides, in bytes.
static constexpr uint64_t kUnit = 16;
// Limits of cuTensorMapEncodeTiled.
static constexpr unsigned kMostBox = 256, kMostStep = 8;
static constexpr uint64_t kMostSize = uint64_t(1) << 32;
static constexpr uint64_t kStrideEnd = uint64_t(1) << 40;

namespace {
/// The encoding of a map. The first stride isn't stored, as it equals
/// elementBytes.
struct Packed {
  uint64_t magic, address, strides[kMostDimensions - 1];
  uint32_t lastPlaces[kMostDimensions]; ///< sizes minus 1, as a size of 2^32
                                        ///< doesn't fit into 32 bits
  uint16_t box[kMostDimensions];
  uint8_t steps[kMostDimensions];
  uint8_t rank, elementBytes, swizzleBytes;
};
static_assert(sizeof(Packed) <= kBytes, "a map has room for it");
} // namespace

static constexpr uint64_t kMagic = 0x70616D6174666868;

uint32_t Map::getExtent(unsigned dimension) const {
  uint32_t step = dimension == 0 ? 1 : steps[dimension];
  return (box[dimension] + step - 1) / step;
}

uint64_t Map::getBoxBytes() const {
  uint64_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i)
    bytes *= getExtent(i);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

/// Returns whether NVIDIA's driver would accept the map.
static bool isSound(const Map &map) {
  if ((map.elementBytes != 2 && map.elementBytes != 4) || map.rank == 0 ||
      map.rank > kMostDimensions || map.address % kUnit != 0)
    return false;
  for (unsigned i = 0; i < map.rank; ++i) {
    if (map.sizes[i] == 0 || map.sizes[i] > kMostSize || map.box[i] == 0 ||
        map.box[i] > kMostBox || map.steps[i] == 0 || map.steps[i] > kMostStep)
      return false;
    if (i > 0 && (map.strides[i] % kUnit != 0 || map.strides[i] >= kStrideEnd))
      return false;
  }
  uint64_t rowBytes = uint64_t(map.box[0]) * map.elementBytes;
  return rowBytes % kUnit == 0 &&
         (map.swizzleBytes == 0 || rowBytes <= map.swizzleBytes);
}

bool tensor_maps::encode(const Map &map, void *out) {
  constexpr uintptr_t kAlignment = 64;
  if (reinterpret_cast<uintptr_t>(out) % kAlignment != 0 || !isSound(map))
    return false;
  Packed packed = {};
  packed.magic = kMagic;
  packed.address = map.address;
  packed.rank = uint8_t(map.rank);
  packed.elementBytes = uint8_t(map.elementBytes);
  packed.swizzleBytes = uint8_t(map.swizzleBytes);
  for (unsigned i = 0; i < map.rank; ++i) {
    packed.lastPlaces[i] = uint32_t(map.sizes[i] - 1);
    packed.box[i] = uint16_t(map.box[i]);
    packed.steps[i] = uint8_t(map.steps[i]);
    if (i > 0)
      packed.strides[i - 1] = map.strides[i];
  }
  std::memset(out, 0, kBytes);
  std::memcpy(out, &packed, sizeof(packed));
  return true;
}

bool tensor_maps::decode(const void *bytes, Map &map) {
  Packed packed;
  std::memcpy(&packed, bytes, sizeof(packed));
  if (packed.magic != kMagic)
    return false;
  map = {};
  map.address = packed.address;
  map.rank = packed.rank;
  map.elementBytes = packed.elementBytes;
  map.swizzleBytes = packed.swizzleBytes;
  map.strides[0] = packed.elementBytes;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.sizes[i] = uint64_t(packed.lastPlaces[i]) + 1;
    map.box[i] = packed.box[i];
    map.steps[i] = packed.steps[i];
    if (i > 0)
      map.strides[i] = packed.strides[i - 1];
  }
  return true;
}

int tensor_maps::encodeTiled(void *out, int type, uint32_t rank, void *address,
                             const uint64_t *sizes, const uint64_t *strides,
                             const uint32_t *box, const uint32_t *steps,
                             int interleave, int swizzle, int promotion,
                             int fill) {
  enum { kSuccess = 0, kInvalidValue = 1 };
  enum { kUint16 = 1, kUint32 = 2, kSwizzle128 = 3, kPromotion256 = 3 };
  if ((type != kUint16 && type != kUint32) || rank == 0 ||
      rank > kMostDimensions || interleave != 0 || swizzle < 0 ||
      swizzle > kSwizzle128 || promotion < 0 || promotion > kPromotion256 ||
      fill != 0)
    return kInvalidValue;
  Map map = {};
  map.address = reinterpret_cast<uint64_t>(address);
  map.elementBytes = type == kUint16 ? 2 : 4;
  map.rank = rank;
  map.swizzleBytes = swizzle == 0 ? 0 : 16U << swizzle;
  map.strides[0] = map.elementBytes;
  std::copy(sizes, sizes + rank, map.sizes);
  std::copy(strides, strides + rank - 1, map.strides + 1);
  std::copy(box, box + rank, map.box);
  std::copy(steps, steps + rank, map.steps);
  return encode(map, out) ? kSuccess : kInvalidValue;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Returns the address to which the swizzle moves the unit at address `at`: the
/// unit's index within a row of `swizzleBytes` is XORed with the lowest bits of
/// the index of its 128-byte line.
static uintptr_t turn(uintptr_t at, uint32_t swizzleBytes) {
  return swizzleBytes == 0 ? at : at ^ (at >> 3 & (swizzleBytes - kUnit));
}

/// Copies the elements of a box's row that lie in the tensor to `row`, and
/// leaves the others as they are. `first` is the row's first coordinate, along
/// dimension 0; `address` is that of coordinate 0.
static void readRow(const Map &map, int64_t first, uint64_t address,
                    unsigned char *row) {
  auto end = std::min(first + int64_t(map.box[0]), int64_t(map.sizes[0]));
  int64_t from = std::max<int64_t>(first, 0);
  if (from < end)
    std::memcpy(
        row + (from - first) * map.elementBytes,
        reinterpret_cast<const void *>(address + from * map.elementBytes),
        size_t(end - from) * map.elementBytes);
}

void tensor_maps::copyBox(const Map &map, const int32_t *coordinates,
                          void *to) {
  uint64_t rowBytes = uint64_t(map.box[0]) * map.elementBytes;
  uint64_t rows = map.getBoxBytes() / rowBytes;
  auto at = reinterpret_cast<uintptr_t>(to);
  for (uint64_t number = 0; number < rows; ++number) {
    uint64_t address = map.address, rest = number;
    bool isInside = true;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t place =
          coordinates[i] + int64_t(rest % map.getExtent(i)) * map.steps[i];
      rest /= map.getExtent(i);
      isInside &= place >= 0 && place < int64_t(map.sizes[i]);
      address += uint64_t(place) * map.strides[i];
    }
    unsigned char row[kMostBox * sizeof(uint32_t)] = {};
    if (isInside)
      readRow(map, coordinates[0], address, row);
    for (uint64_t byte = 0; byte < rowBytes; byte += kUnit, at += kUnit)
      std::memcpy(reinterpret_cast<void *>(turn(at, map.swizzleBytes)),
                  row + byte, kUnit);
  }
}
