//===- TensorCores.cpp - Bit-exact products of small matrices -------------===//

#include "TensorCores.h"
#include "Fibers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tensor_cores;
using mlir::hfta::emulated::Factors;

/// The number of words in a row of the left matrix, and in a column of the
/// right matrix.
static constexpr unsigned kWords = 8;
static constexpr unsigned kMostTerms = 2 * kWords;
/// The number of rows, and of columns, of a matrix that readMatrices loads, and
/// the most matrices that it loads at once.
static constexpr unsigned kSize = 8, kMostMatrices = 4;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// A decoded floating-point number. If it is finite, its magnitude is
/// significand * 2^(exponent - fractionBits), where fractionBits belongs to the
/// format (twice as many for a product).
struct Number {
  int64_t significand;
  int exponent;
  bool isNegative, isInfinite, isNan;

  bool isZero() const { return significand == 0 && !isInfinite && !isNan; }
};

/// A binary floating-point format with a sign bit, as in IEEE 754.
struct Decoder {
  unsigned fractionBits, exponentBits;

  Number decode(uint32_t bits) const {
    const int largest = (1 << exponentBits) - 1, bias = largest / 2;
    auto fraction = int64_t(bits & ((uint32_t(1) << fractionBits) - 1));
    int exponent = int(bits >> fractionBits) & largest;
    bool isNegative = (bits >> (fractionBits + exponentBits)) & 1;
    if (exponent == largest)
      return {0, 0, isNegative, fraction == 0, fraction != 0};
    if (exponent == 0)
      return {fraction, 1 - bias, isNegative, false, false};
    return {fraction | int64_t(1) << fractionBits, exponent - bias, isNegative,
            false, false};
  }
};
} // namespace

static constexpr Decoder kSums = {23, 8}, kBf16 = {7, 8}, kTf32 = {10, 8},
                         kF16 = {10, 5};

static uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Returns the exact product.
static Number multiplyNumbers(const Number &lhs, const Number &rhs) {
  Number product = {lhs.significand * rhs.significand,
                    lhs.exponent + rhs.exponent,
                    lhs.isNegative != rhs.isNegative,
                    lhs.isInfinite || rhs.isInfinite, false};
  product.isNan = lhs.isNan || rhs.isNan || (lhs.isInfinite && rhs.isZero()) ||
                  (rhs.isInfinite && lhs.isZero());
  return product;
}

/// Returns a number's significand with its sign, in units of
/// 2^(exponent - chip.fractionBits), rounded towards zero.
static int64_t align(const Number &number, unsigned fractionBits,
                     const Chip &chip, int exponent) {
  int left =
      int(chip.fractionBits) - int(fractionBits) - (exponent - number.exponent);
  int64_t aligned = 0;
  if (left >= 0)
    aligned = number.significand << left;
  else if (left > -64)
    aligned = number.significand >> -left;
  return number.isNegative ? -aligned : aligned;
}

/// Returns value * 2^exponent as an f32, rounded towards zero; infinity if it
/// is too large.
static float cut(int64_t value, int exponent) {
  constexpr int kBits = 24, kLeast = -149;
  uint64_t magnitude = value < 0 ? -uint64_t(value) : uint64_t(value);
  int bits = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  int lost = std::max({bits - kBits, kLeast - exponent, 0});
  magnitude = lost < 64 ? magnitude >> lost : 0;
  float result = std::ldexp(float(magnitude), exponent + lost);
  return value < 0 ? -result : result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns `before` plus the products of a group. NaNs, and infinities of both
/// signs, give the NaN 0x7FFFFFFF.
static float addGroup(const Chip &chip, const Number *products, unsigned count,
                      unsigned fractionBits, float before) {
  Number sum = kSums.decode(getBits(before));
  bool isNan = sum.isNan, hasInfinity[2] = {false, false};
  int exponent = std::numeric_limits<int>::min();
  auto visit = [&](const Number &number) {
    isNan |= number.isNan;
    if (number.isInfinite)
      hasInfinity[number.isNegative] = true;
    else if (!number.isZero())
      exponent = std::max(exponent, number.exponent);
  };
  visit(sum);
  std::for_each(products, products + count, visit);
  if (isNan || (hasInfinity[0] && hasInfinity[1])) {
    uint32_t bits = 0x7FFFFFFF;
    std::memcpy(&before, &bits, sizeof(bits));
    return before;
  }
  if (hasInfinity[0] || hasInfinity[1])
    return hasInfinity[0] ? INFINITY : -INFINITY;
  if (exponent == std::numeric_limits<int>::min())
    return 0;
  int64_t total = align(sum, kSums.fractionBits, chip, exponent);
  for (unsigned i = 0; i < count; ++i)
    total += align(products[i], fractionBits, chip, exponent);
  return cut(total, exponent - int(chip.fractionBits));
}

float tensor_cores::addProducts(const Chip &chip, Factors factors,
                                const uint32_t *lhs, const uint32_t *rhs,
                                float sum) {
  const bool isNarrow = factors != Factors::kTf32;
  const Decoder &decoder = factors == Factors::kBf16   ? kBf16
                           : factors == Factors::kTf32 ? kTf32
                                                       : kF16;
  // A TF32 factor is an f32 whose lowest fraction bits are ignored.
  constexpr unsigned kIgnored = kSums.fractionBits - kTf32.fractionBits;
  for (unsigned first = 0; first < kWords; first += chip.words) {
    Number products[kMostTerms];
    unsigned count = 0;
    for (unsigned i = first; i < first + chip.words; ++i) {
      if (!isNarrow) {
        products[count++] = multiplyNumbers(decoder.decode(lhs[i] >> kIgnored),
                                            decoder.decode(rhs[i] >> kIgnored));
        continue;
      }
      for (unsigned half = 0; half < 32; half += 16)
        products[count++] =
            multiplyNumbers(decoder.decode((lhs[i] >> half) & 0xFFFF),
                            decoder.decode((rhs[i] >> half) & 0xFFFF));
    }
    sum = addGroup(chip, products, count, 2 * decoder.fractionBits, sum);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {
/// The operands that the threads of a warp pass to a call. They are double
/// buffered, because some threads may already have begun the next call while
/// others still read the operands of this one.
struct Warp {
  uint32_t lhs[2][16][kWords], rhs[2][8][kWords];
  uint16_t rows[2][fibers::kWarp][kSize];
};
struct Thread {
  unsigned next; ///< the buffer that the next call uses
  float sums[4];
  uint32_t words[kMostMatrices];
};
} // namespace

static Chip threadsChip = Chip::get(8);
static Warp warps[fibers::kMost / fibers::kWarp];
static Thread threads[fibers::kMost];

void tensor_cores::setChip(const Chip &chip) { threadsChip = chip; }

const Chip &tensor_cores::getChip() { return threadsChip; }

const float *tensor_cores::multiply(uint32_t factors, uint32_t lhs0,
                                    uint32_t lhs1, uint32_t lhs2, uint32_t lhs3,
                                    uint32_t rhs0, uint32_t rhs1, float sum0,
                                    float sum1, float sum2, float sum3) {
  unsigned number = fibers::getThread();
  Thread &thread = threads[number];
  Warp &warp = warps[number / fibers::kWarp];
  unsigned quad = number % fibers::kWarp / 4, inQuad = number % 4;
  unsigned which = thread.next;
  thread.next = 1 - which;
  warp.lhs[which][quad][inQuad] = lhs0;
  warp.lhs[which][quad + 8][inQuad] = lhs1;
  warp.lhs[which][quad][inQuad + 4] = lhs2;
  warp.lhs[which][quad + 8][inQuad + 4] = lhs3;
  warp.rhs[which][quad][inQuad] = rhs0;
  warp.rhs[which][quad][inQuad + 4] = rhs1;
  fibers::waitForWarp();
  const float before[] = {sum0, sum1, sum2, sum3};
  for (unsigned i = 0; i < 4; ++i)
    thread.sums[i] = addProducts(
        threadsChip, Factors(factors), warp.lhs[which][quad + i / 2 * 8],
        warp.rhs[which][2 * inQuad + i % 2], before[i]);
  return thread.sums;
}

const uint32_t *tensor_cores::readMatrices(uint32_t count, uint32_t transposes,
                                           const void *row) {
  unsigned number = fibers::getThread(), inWarp = number % fibers::kWarp;
  Thread &thread = threads[number];
  Warp &warp = warps[number / fibers::kWarp];
  unsigned which = thread.next;
  thread.next = 1 - which;
  std::memcpy(warp.rows[which][inWarp], row, sizeof(warp.rows[which][inWarp]));
  fibers::waitForWarp();
  unsigned line = inWarp / 4, pair = inWarp % 4;
  for (unsigned i = 0; i < std::min(count, kMostMatrices); ++i) {
    const auto *rows = warp.rows[which] + i * kSize;
    const uint16_t low =
        transposes ? rows[pair * 2][line] : rows[line][pair * 2];
    const uint16_t high =
        transposes ? rows[pair * 2 + 1][line] : rows[line][pair * 2 + 1];
    thread.words[i] = low | uint32_t(high) << 16;
  }
  return thread.words;
}
