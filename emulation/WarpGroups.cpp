//===- WarpGroups.cpp - Products of matrices in shared memory -------------===//
//
// The layout of an operand's elements is described in "Parallel Thread
// Execution ISA", "Asynchronous Warpgroup Level Matrix Instructions", "Shared
// Memory Matrix Layout" and "Matrix Descriptor".
//===----------------------------------------------------------------------===//

#include "WarpGroups.h"
#include "Fibers.h"
#include "TensorCores.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

using namespace warp_groups;
using mlir::hfta::emulated::Factors;

/// The number of words of a row or column of factors, and the bytes of a 16-bit
/// element.
static constexpr unsigned kWords = 8, kHalf = 2;
/// The number of rows after which the swizzle's pattern repeats.
static constexpr unsigned kPattern = 8;
/// The most sums that a thread can have.
static constexpr unsigned kMostSums = kMostColumns / 2;

namespace {
/// An operand in shared memory, decoded from PTX's matrix descriptor:
///
///   bits 0-13    address
///   bits 16-29   leading dimension offset: the distance between the parts into
///                which long rows are cut
///   bits 32-45   stride offset: the distance between groups of 8 rows
///   bits 62-63   swizzle, which also determines the length of a row
///
/// Address and distances are in units of 16 bytes.
class Matrix {
public:
  Matrix(uint64_t descriptor, const void *shared, bool isTransposed)
      : shared(static_cast<const char *>(shared)), isTransposed(isTransposed) {
    auto read = [&](unsigned from) {
      return static_cast<uint32_t>(descriptor >> from & 0x3FFF) * 16;
    };
    address = read(0);
    leading = read(16);
    stride = read(32);
    // A swizzle of 0 means none, and rows of 16 bytes; 1, 2 and 3 mean rows of
    // 128, 64 and 32 bytes.
    auto turn = static_cast<uint32_t>(descriptor >> 62);
    rowBytes = turn == 0 ? 16 : 256U >> turn;
  }

  /// Reads the kWords words of factors for a row or column of the result.
  void read(unsigned place, uint32_t *words) const {
    if (!isTransposed) {
      for (unsigned word = 0; word < kWords; ++word)
        copy(place, word * 4, &words[word], 4);
      return;
    }
    // A term has a 16-bit element for each row or column of the result. These
    // are cut into parts of the length of a row of memory.
    unsigned ofRow = rowBytes / kHalf;
    for (unsigned term = 0; term < 2 * kWords; ++term) {
      uint16_t half;
      copy(term, place % ofRow * kHalf, &half, kHalf, place / ofRow * leading);
      uint32_t &word = words[term / 2];
      word = term % 2 == 0 ? half : word | uint32_t(half) << 16;
    }
  }

private:
  /// Copies `count` bytes of a row of memory, from number `byte` on. `before`
  /// is the offset in bytes of the row's part.
  void copy(unsigned row, unsigned byte, void *to, unsigned count,
            unsigned before = 0) const {
    constexpr uint32_t kWindow = (1 << 18) - 1;
    uint32_t at = address + before + row / kPattern * stride +
                  row % kPattern * rowBytes + byte;
    // The swizzle, as in TensorMaps.cpp: the index of a 16-byte unit is XORed
    // with the index of its 128-byte line.
    at ^= at >> 3 & (rowBytes - 16);
    // A descriptor has only the 18 lowest bits of an address, which suffice for
    // a GPU's shared memory. So offsets are computed modulo 2^18.
    auto begin = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(shared));
    std::memcpy(to, shared + ((at - begin) & kWindow), count);
  }

  const char *shared;
  uint32_t address, leading, stride, rowBytes;
  bool isTransposed;
};

/// The factors of one thread's sums, which lie in two rows of the result and in
/// two neighbouring columns out of each 8.
struct Operands {
  uint32_t lhs[2][kWords], rhs[kMostColumns / 4][kWords];
};
struct Product {
  Factors factors;
  uint32_t columns;
  Matrix lhs, rhs;
  uint64_t group;  ///< the number of the product's group, from 0
  Operands before; ///< the running thread's factors when the product began

  /// Reads the running thread's factors.
  Operands read() const;
};
struct Thread {
  std::vector<Product> begun; ///< products that aren't computed yet
  uint64_t groups;            ///< groups that were committed
  float sums[kMostSums];
  bool hasSums;  ///< false: the next product passes new sums
  bool isFenced; ///< whether `fence` was called since all products were done
};
} // namespace

static Thread threads[fibers::kMost];

Operands Product::read() const {
  unsigned number = fibers::getThread();
  unsigned warp = number / fibers::kWarp % 4, inWarp = number % fibers::kWarp;
  Operands operands = {};
  for (unsigned row = 0; row < 2; ++row)
    lhs.read(warp * 16 + row * 8 + inWarp / 4, operands.lhs[row]);
  for (unsigned column = 0; column < columns / 4; ++column)
    rhs.read(column / 2 * 8 + inWarp % 4 * 2 + column % 2,
             operands.rhs[column]);
  return operands;
}

void warp_groups::fence() { threads[fibers::getThread()].isFenced = true; }

const float *warp_groups::getUnknown() {
  static const std::vector<float> unknown(
      kMostSums, std::numeric_limits<float>::quiet_NaN());
  return unknown.data();
}

const float *warp_groups::multiply(uint32_t factors, uint32_t columns,
                                   uint32_t transposed, const void *shared,
                                   uint64_t lhs, uint64_t rhs,
                                   const float *sums) {
  Thread &thread = threads[fibers::getThread()];
  columns = std::min(columns, kMostColumns);
  if (!thread.hasSums || !thread.isFenced)
    std::memcpy(thread.sums, thread.isFenced ? sums : getUnknown(),
                columns / 2 * sizeof(float));
  thread.hasSums = true;
  thread.begun.push_back({Factors(factors),
                          columns,
                          Matrix(lhs, shared, transposed & 1),
                          Matrix(rhs, shared, transposed & 2),
                          thread.groups,
                          {}});
  thread.begun.back().before = thread.begun.back().read();
  return getUnknown();
}

/// Returns the index, in a thread's sums, of the sum in its row number `row` (0
/// or 1) and its column number `column`.
static unsigned getPlace(unsigned row, unsigned column) {
  return column / 2 * 4 + row * 2 + column % 2;
}

/// Adds a product to the running thread's sums, or makes them NaNs if an
/// operand has changed since the product began.
static void make(const Product &product, float *sums) {
  Operands operands = product.read();
  bool isSame = std::memcmp(&operands, &product.before, sizeof(operands)) == 0;
  for (unsigned column = 0; column < product.columns / 4; ++column)
    for (unsigned row = 0; row < 2; ++row) {
      float &sum = sums[getPlace(row, column)];
      sum = isSame
                ? tensor_cores::addProducts(tensor_cores::getChip(),
                                            product.factors, operands.lhs[row],
                                            operands.rhs[column], sum)
                : *getUnknown();
    }
}

void warp_groups::commit() { ++threads[fibers::getThread()].groups; }

/// Computes the products of all groups except the latest `left` ones, in the
/// order in which they began.
static void makeGroups(Thread &thread, uint32_t left) {
  auto isLeft = [&](const Product &product) {
    return product.group + left >= thread.groups;
  };
  auto end = std::find_if(thread.begun.begin(), thread.begun.end(), isLeft);
  // The products are removed from `begun` first, because an access to unmapped
  // memory leaves this function by siglongjmp, and then `begun` must not
  // contain products that were already computed.
  std::vector<Product> made(std::make_move_iterator(thread.begun.begin()),
                            std::make_move_iterator(end));
  thread.begun.erase(thread.begun.begin(), end);
  if (!made.empty() && thread.begun.empty())
    thread.isFenced = false;
  for (const Product &product : made)
    make(product, thread.sums);
}

void warp_groups::waitForGroups(uint32_t left) {
  makeGroups(threads[fibers::getThread()], left);
  fibers::waitForWarp();
}

const float *warp_groups::wait() {
  Thread &thread = threads[fibers::getThread()];
  makeGroups(thread, 0);
  thread.hasSums = false;
  fibers::waitForWarp();
  return thread.begun.empty() ? thread.sums : getUnknown();
}

void warp_groups::forget() {
  for (Thread &thread : threads) {
    thread.begun.clear();
    thread.groups = 0;
    thread.hasSums = false;
    thread.isFenced = false;
  }
}
