//===- TensorCoresTest.cpp - Bit-exact tests of emulated tensor cores -----===//

#include "TensorCores.h"
#include "Fibers.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

using mlir::hfta::emulated::Factors;
using tensor_cores::Chip;

namespace {

constexpr Chip kAmpere = Chip::get(8), kHopper = Chip::get(9);

uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Returns `sum` plus up to 16 products, as tensor cores of `chip` compute it
/// in bf16. Factors must be numbers that bf16 represents exactly. Missing
/// factors are zero.
float addNarrow(const Chip &chip, const std::vector<float> &lhs,
                const std::vector<float> &rhs, float sum) {
  std::array<uint32_t, 8> words[2] = {};
  const std::vector<float> *sides[] = {&lhs, &rhs};
  for (unsigned side = 0; side < 2; ++side)
    for (unsigned i = 0; i < sides[side]->size(); ++i)
      words[side][i / 2] |= getBits((*sides[side])[i]) >> 16 << 16 * (i % 2);
  return tensor_cores::addProducts(chip, Factors::kBf16, words[0].data(),
                                   words[1].data(), sum);
}

TEST(TensorCores, SumsThatHaveTheBitsAreExact) {
  for (const Chip &chip : {kAmpere, kHopper}) {
    EXPECT_EQ(addNarrow(chip, {1, 2, 3, -4}, {5, 6, 7, 8}, 0.5F), 6.5F);
    EXPECT_EQ(addNarrow(chip, {}, {}, -3), -3);
    EXPECT_EQ(addNarrow(chip, std::vector<float>(16, 1),
                        std::vector<float>(16, 3), 1),
              49);
  }
}

TEST(TensorCores, WhatIsAlignedIsCut) {
  // Both chips align terms to the largest one, here 1. Ampere keeps 24 bits of
  // fraction: enough for 2^-24, but 2^-25 is cut off. Hopper keeps 25 bits, so
  // two terms of -2^-25 add up to -2^-24.
  const float small = std::ldexp(1.0F, -12), half = std::ldexp(1.0F, -13);
  for (const Chip &chip : {kAmpere, kHopper})
    EXPECT_EQ(addNarrow(chip, {1, -small}, {1, small}, 0), 1 - 0x1p-24F);
  EXPECT_EQ(addNarrow(kAmpere, {1, -half, -half}, {1, small, small}, 0), 1);
  EXPECT_EQ(addNarrow(kHopper, {1, -half, -half}, {1, small, small}, 0),
            1 - 0x1p-24F);
}

TEST(TensorCores, AmpereAddsHalfOfTheProductsFirst) {
  // The two large products cancel. A product of 1 in the same group is aligned
  // to them and loses all of its bits.
  std::vector<float> lhs(16), rhs(16, 1);
  lhs[0] = 0x1p30F;
  lhs[1] = 1;
  lhs[8] = -0x1p30F;
  lhs[9] = 1;
  EXPECT_EQ(addNarrow(kHopper, lhs, rhs, 0), 0);
  lhs = std::vector<float>(16);
  lhs[0] = 0x1p30F;
  lhs[1] = -0x1p30F;
  lhs[8] = 1;
  EXPECT_EQ(addNarrow(kAmpere, lhs, rhs, 0), 1);
  EXPECT_EQ(addNarrow(kHopper, lhs, rhs, 0), 0);
}

TEST(TensorCores, SumsAreCutTowardsZero) {
  for (const Chip &chip : {kAmpere, kHopper}) {
    EXPECT_EQ(addNarrow(chip, {1}, {0x1p-1F}, 0x1p24F), 0x1p24F);
    EXPECT_EQ(addNarrow(chip, {1}, {-0x1p-1F}, -0x1p24F), -0x1p24F);
  }
}

TEST(TensorCores, InfinitiesAndWhatIsNoNumber) {
  const float infinity = INFINITY;
  for (const Chip &chip : {kAmpere, kHopper}) {
    EXPECT_EQ(addNarrow(chip, {infinity}, {-2}, 0), -infinity);
    EXPECT_EQ(getBits(addNarrow(chip, {infinity}, {0}, 0)), 0x7FFFFFFF);
    EXPECT_EQ(getBits(addNarrow(chip, {infinity}, {1}, -infinity)), 0x7FFFFFFF);
    EXPECT_EQ(getBits(addNarrow(chip, {NAN}, {1}, 1)), 0x7FFFFFFF);
  }
}

TEST(TensorCores, SmallNumbersAreKept) {
  // The sums are denormals of f32; one factor is a denormal of bf16.
  for (const Chip &chip : {kAmpere, kHopper}) {
    EXPECT_EQ(addNarrow(chip, {0x1p-100F}, {0x1p-40F}, 0x1p-149F),
              0x1p-140F + 0x1p-149F);
    EXPECT_EQ(addNarrow(chip, {0x1p-130F}, {2}, 0), 0x1p-129F);
  }
}

TEST(TensorCores, Tf32HasTenBitsOfFraction) {
  uint32_t lhs[8] = {getBits(1 + 0x1p-10F + 0x1p-11F)}, rhs[8] = {getBits(3)};
  for (const Chip &chip : {kAmpere, kHopper})
    EXPECT_EQ(tensor_cores::addProducts(chip, Factors::kTf32, lhs, rhs, 1),
              1 + 3 * (1 + 0x1p-10F));
}

TEST(TensorCores, F16HasFiveBitsOfExponent) {
  // In f16 these are the pair of 1.5 and -2, the largest number 65504,
  // infinity, and the smallest denormal 2^-24.
  const uint32_t numbers = 0x3E00 | 0xC000U << 16, largest = 0x7BFF,
                 infinite = 0x7C00, small = 1;
  for (const Chip &chip : {kAmpere, kHopper}) {
    auto add = [&](uint32_t first, uint32_t second, float sum) {
      uint32_t lhs[8] = {first}, rhs[8] = {second};
      return tensor_cores::addProducts(chip, Factors::kF16, lhs, rhs, sum);
    };
    EXPECT_EQ(add(numbers, numbers, 1), 1 + 2.25F + 4);
    EXPECT_EQ(add(largest, largest, 0), 65504.0F * 65504.0F);
    EXPECT_EQ(add(small, numbers, 0x1p-30F), 1.5F * 0x1p-24F + 0x1p-30F);
    EXPECT_EQ(add(infinite, numbers, 0), INFINITY);
    EXPECT_EQ(getBits(add(infinite, 0, 0)), 0x7FFFFFFF);
  }
}

/// Four matrices of 8 x 8 elements, of which threads read the first `count`.
/// The element in row r and column c of matrix m is 100 m + 10 r + c.
struct Matrices {
  uint16_t elements[4][8][8];
  uint32_t count, transposes, words[fibers::kWarp][4];
  unsigned next = 0;

  Matrices(uint32_t count, uint32_t transposes)
      : count(count), transposes(transposes), words() {
    for (unsigned matrix = 0; matrix < 4; ++matrix)
      for (unsigned row = 0; row < 8; ++row)
        for (unsigned column = 0; column < 8; ++column)
          elements[matrix][row][column] =
              uint16_t(100 * matrix + 10 * row + column);
  }
};

void readTwice(void *argument) {
  auto &matrices = *static_cast<Matrices *>(argument);
  unsigned lane = fibers::getThread();
  // The words returned by the first call must stay valid while other threads of
  // the warp already make the second call.
  for (unsigned round = 0; round < 2; ++round) {
    unsigned matrix = lane / 8 % matrices.count;
    const uint32_t *words = tensor_cores::readMatrices(
        matrices.count, matrices.transposes,
        matrices.elements[round == 0 ? matrix : matrices.count - 1 - matrix]
                         [lane % 8]);
    for (uint32_t i = 0; i < matrices.count && round == 0; ++i)
      matrices.words[lane][i] = words[i];
  }
}

unsigned chooseLast(void *argument) {
  return fibers::kWarp - 1 -
         static_cast<Matrices *>(argument)->next++ % fibers::kWarp;
}

/// Has a warp read matrices, and checks the two elements that each thread gets
/// from each. `toNext` is the second element minus the first one: 1 for
/// neighbours in a row, 10 for neighbours in a column.
void checkMatrices(uint32_t count, uint32_t transposes, unsigned toNext) {
  Matrices matrices(count, transposes);
  ASSERT_TRUE(fibers::run(fibers::kWarp, readTwice, chooseLast, &matrices));
  for (unsigned lane = 0; lane < fibers::kWarp; ++lane)
    for (uint32_t i = 0; i < count; ++i) {
      unsigned first = lane % 4 * 2, line = lane / 4;
      unsigned at = transposes ? 10 * first + line : 10 * line + first;
      EXPECT_EQ(matrices.words[lane][i] & 0xFFFF, 100 * i + at);
      EXPECT_EQ(matrices.words[lane][i] >> 16, 100 * i + at + toNext);
    }
}

TEST(TensorCores, AWarpReadsMatricesTransposed) {
  for (uint32_t count : {2U, 4U})
    checkMatrices(count, /*transposes=*/1, /*toNext=*/10);
}

TEST(TensorCores, AWarpReadsMatricesAsTheyAre) {
  for (uint32_t count : {2U, 4U})
    checkMatrices(count, /*transposes=*/0, /*toNext=*/1);
}

} // namespace
