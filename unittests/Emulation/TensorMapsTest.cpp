//===- TensorMapsTest.cpp - Tests of tensor maps and copies of boxes ------===//

#include "TensorMaps.h"

#include "gtest/gtest.h"

#include <cstring>
#include <vector>

using tensor_maps::Map;

namespace {

/// Byte that fills shared memory before a copy.
constexpr unsigned char kBefore = 0xAB;

/// Returns the offset in shared memory at which a GPU stores the byte that
/// would be at `at` without a swizzle. The index of a 16-byte unit, within a
/// row of `swizzleBytes`, is XORed with the index of the 128-byte line. Written
/// independently of the code under test.
size_t turn(size_t at, unsigned swizzleBytes) {
  if (swizzleBytes == 0)
    return at;
  unsigned units = swizzleBytes / 16;
  size_t line = at / 128 % units, unit = at / 16 % units;
  return at - unit * 16 + (unit ^ line) * 16;
}

/// A tensor in memory, its map, and shared memory for a box of it.
struct Boxes {
  alignas(64) unsigned char bytes[tensor_maps::kBytes];
  alignas(1024) unsigned char shared[16384];
  std::vector<unsigned char> tensor;
  Map map = {};

  Boxes(unsigned elementBytes, unsigned swizzleBytes,
        std::vector<uint64_t> sizes, std::vector<uint32_t> box,
        std::vector<uint32_t> steps)
      : bytes(), shared() {
    map.elementBytes = elementBytes;
    map.swizzleBytes = swizzleBytes;
    map.rank = static_cast<uint32_t>(sizes.size());
    uint64_t stride = elementBytes;
    for (unsigned i = 0; i < map.rank; ++i) {
      map.sizes[i] = sizes[i];
      map.strides[i] = stride;
      map.box[i] = box[i];
      map.steps[i] = steps[i];
      // Bytes that don't belong to the tensor follow each dimension.
      stride = (stride * sizes[i] + 15) / 16 * 16 + 16;
    }
    tensor.resize(stride + 16);
    for (size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = static_cast<unsigned char>(1 + i % 251);
    map.address = (reinterpret_cast<uint64_t>(tensor.data()) + 15) / 16 * 16;
    std::memset(shared, kBefore, sizeof(shared));
  }

  /// Copies the box at `coordinates` to `offset` in shared memory, and compares
  /// it with the tensor byte by byte.
  void check(std::vector<int32_t> coordinates, size_t offset = 0) {
    ASSERT_TRUE(tensor_maps::encode(map, bytes));
    Map read;
    ASSERT_TRUE(tensor_maps::decode(bytes, read));
    coordinates.resize(tensor_maps::kMostDimensions);
    tensor_maps::copyBox(read, coordinates.data(), shared + offset);
    size_t count = 1;
    for (unsigned i = 0; i < map.rank; ++i)
      count *= (map.box[i] + map.steps[i] - 1) / map.steps[i];
    ASSERT_EQ(map.getBoxBytes(), count * map.elementBytes);
    for (size_t number = 0; number < count; ++number)
      checkElement(number, coordinates, offset);
    EXPECT_EQ(shared[offset + count * map.elementBytes], kBefore);
    if (offset > 0)
      EXPECT_EQ(shared[offset - 1], kBefore);
  }

  /// Compares one element of the box, which must be 0 outside the tensor.
  void checkElement(size_t number, const std::vector<int32_t> &coordinates,
                    size_t offset) {
    uint64_t address = map.address;
    size_t rest = number;
    bool isInside = true;
    for (unsigned i = 0; i < map.rank; ++i) {
      size_t extent = (map.box[i] + map.steps[i] - 1) / map.steps[i];
      auto place =
          static_cast<int64_t>(rest % extent * map.steps[i]) + coordinates[i];
      rest /= extent;
      isInside &= place >= 0 && place < static_cast<int64_t>(map.sizes[i]);
      address += static_cast<uint64_t>(place) * map.strides[i];
    }
    for (unsigned byte = 0; byte < map.elementBytes; ++byte) {
      unsigned char expected =
          isInside ? reinterpret_cast<const unsigned char *>(address)[byte] : 0;
      size_t at = offset + number * map.elementBytes + byte;
      ASSERT_EQ(shared[turn(at, map.swizzleBytes)], expected)
          << "element " << number;
    }
  }
};

TEST(TensorMaps, RowsAreTurned) {
  for (unsigned swizzle : {32U, 64U, 128U}) {
    SCOPED_TRACE(swizzle);
    Boxes(2, swizzle, {256, 64}, {swizzle / 2, 33}, {1, 1}).check({8, 5});
    Boxes(4, swizzle, {256, 64}, {swizzle / 4, 33}, {1, 1}).check({8, 5});
    // The box begins at an address that isn't a multiple of 1024: the swizzle
    // depends on addresses, not on the numbers of rows.
    Boxes(2, swizzle, {256, 64}, {swizzle / 2, 9}, {1, 1}).check({0, 0}, 384);
  }
  Boxes(2, 0, {256, 64}, {256, 8}, {1, 1}).check({0, 2});
}

TEST(TensorMaps, WhatIsOutsideIsZeros) {
  for (int32_t inner : {-40, -33, -5, 90, 100, 200})
    for (int32_t outer : {-9, -3, 0, 9, 13}) {
      Boxes(2, 64, {100, 10}, {32, 8}, {1, 1}).check({inner, outer});
      Boxes(4, 64, {100, 10, 3}, {16, 2, 4}, {1, 1, 1})
          .check({inner, outer, outer / 3});
    }
  // These coordinates are far outside the tensor.
  Boxes(2, 64, {100, 10}, {32, 8}, {1, 1}).check({INT32_MIN, INT32_MAX});
}

TEST(TensorMaps, OfSomeDimensionsEachSoManyth) {
  Boxes(2, 128, {64, 9, 9, 4}, {64, 5, 3, 1}, {1, 2, 3, 1})
      .check({0, 1, -1, 2});
  Boxes(4, 32, {64, 20, 5, 5, 5}, {8, 17, 2, 3, 2}, {1, 8, 1, 2, 1})
      .check({60, -8, 1, 2, 4});
}

TEST(TensorMaps, OneDimension) { Boxes(2, 128, {40}, {64}, {1}).check({-8}); }

/// Tests the driver's limits on the parameters of a map.
TEST(TensorMaps, HaveLimits) {
  const Boxes sound(2, 64, {64, 64}, {32, 8}, {1, 2});
  alignas(64) unsigned char bytes[tensor_maps::kBytes + 16];
  auto encodes = [&](auto change) {
    Map map = sound.map;
    change(map);
    return tensor_maps::encode(map, bytes);
  };
  EXPECT_TRUE(encodes([](Map &) {}));
  EXPECT_FALSE(tensor_maps::encode(sound.map, bytes + 16));
  EXPECT_FALSE(encodes([](Map &map) { map.rank = 0; }));
  EXPECT_FALSE(encodes([](Map &map) { map.rank = 6; }));
  EXPECT_FALSE(encodes([](Map &map) { map.elementBytes = 3; }));
  EXPECT_FALSE(encodes([](Map &map) { map.address += 8; }));
  EXPECT_FALSE(encodes([](Map &map) { map.sizes[1] = 0; }));
  EXPECT_TRUE(encodes([](Map &map) { map.sizes[1] = uint64_t(1) << 32; }));
  EXPECT_FALSE(
      encodes([](Map &map) { map.sizes[1] = (uint64_t(1) << 32) + 1; }));
  EXPECT_FALSE(encodes([](Map &map) { map.strides[1] += 8; }));
  EXPECT_FALSE(encodes([](Map &map) { map.strides[1] = uint64_t(1) << 40; }));
  EXPECT_FALSE(encodes([](Map &map) { map.box[1] = 0; }));
  EXPECT_TRUE(encodes([](Map &map) { map.box[1] = 256; }));
  EXPECT_FALSE(encodes([](Map &map) { map.box[1] = 257; }));
  EXPECT_FALSE(encodes([](Map &map) { map.steps[1] = 0; }));
  EXPECT_TRUE(encodes([](Map &map) { map.steps[1] = 8; }));
  EXPECT_FALSE(encodes([](Map &map) { map.steps[1] = 9; }));
  EXPECT_FALSE(encodes([](Map &map) { map.box[0] = 20; }));
  EXPECT_FALSE(encodes([](Map &map) { map.box[0] = 40; }));
}

TEST(TensorMaps, AreToldFromOtherBytes) {
  const unsigned char bytes[tensor_maps::kBytes] = {};
  Map map;
  EXPECT_FALSE(tensor_maps::decode(bytes, map));
}

TEST(TensorMaps, AreEncodedAsTheDriverDoes) {
  Boxes boxes(4, 32, {64, 6}, {8, 3}, {1, 1});
  auto *address = reinterpret_cast<void *>(boxes.map.address);
  auto encode = [&](int type, int interleave, int swizzle, int fill) {
    return tensor_maps::encodeTiled(
        boxes.bytes, type, 2, address, boxes.map.sizes, boxes.map.strides + 1,
        boxes.map.box, boxes.map.steps, interleave, swizzle, 3, fill);
  };
  EXPECT_EQ(encode(2, 0, 1, 0), 0);
  Map map;
  ASSERT_TRUE(tensor_maps::decode(boxes.bytes, map));
  EXPECT_EQ(map.address, boxes.map.address);
  EXPECT_EQ(map.elementBytes, 4U);
  EXPECT_EQ(map.rank, 2U);
  EXPECT_EQ(map.swizzleBytes, 32U);
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(map.sizes[i], boxes.map.sizes[i]);
    EXPECT_EQ(map.strides[i], boxes.map.strides[i]);
    EXPECT_EQ(map.box[i], boxes.map.box[i]);
    EXPECT_EQ(map.steps[i], boxes.map.steps[i]);
  }
  EXPECT_EQ(encode(0, 0, 1, 0), 1);
  EXPECT_EQ(encode(2, 1, 1, 0), 1);
  EXPECT_EQ(encode(2, 0, 4, 0), 1);
  EXPECT_EQ(encode(2, 0, 1, 1), 1);
}

} // namespace
