//===- WarpGroupsTest.cpp - Tests of matrix products of warp groups -------===//

#include "WarpGroups.h"
#include "Fibers.h"
#include "TensorCores.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <vector>

using mlir::hfta::emulated::Factors;

namespace {

constexpr unsigned kThreads = 128, kRows = 64;

uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// The layout of an operand in shared memory, in rows of `rowBytes` bytes.
/// `places` is the number of the product's rows (left operand) or columns
/// (right operand). A row of memory holds the terms of one place or, if the
/// operand is transposed, one term of several places.
struct Layout {
  unsigned places, rowBytes;
  bool isTransposed;
};

/// A product that one warp group computes. The operands are small integers, so
/// that products and sums are exact in all formats.
struct Product {
  Layout layouts[2];
  Factors factors;
  unsigned terms, elementBytes;
  alignas(1024) unsigned char shared[65536];
  std::vector<float> sides[2];
  float sums[kThreads][warp_groups::kMostColumns / 2];
  unsigned next = 0;
  /// Whether threads call `fence` before they multiply, and whether operands
  /// change before the threads wait for the sums.
  bool isFenced = true, isOverwritten = false;

  Product(Layout lhs, Layout rhs, Factors factors)
      : layouts{lhs, rhs}, factors(factors),
        terms(factors == Factors::kTf32 ? 16 : 32),
        elementBytes(factors == Factors::kTf32 ? 4 : 2), shared(), sums() {
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned place = 0; place < layouts[side].places; ++place)
        for (unsigned term = 0; term < terms; ++term) {
          sides[side].push_back(float((place * 7 + term * (3 + side)) % 11) -
                                5);
          put(side, place, term);
        }
  }

  /// Returns the offset of an operand in shared memory, in bytes.
  unsigned getBegin(unsigned side) const { return side * 32768; }

  /// Returns the distance in bytes between 8 rows of memory and the next 8 (the
  /// stride offset of a descriptor).
  unsigned getStride(unsigned side) const { return 8 * layouts[side].rowBytes; }

  /// Returns the distance in bytes between parts of an operand that is wider
  /// than a row of memory (the leading offset of a descriptor).
  unsigned getLeading(unsigned side) const {
    return terms * layouts[side].rowBytes;
  }

  /// Writes the element that was last added to sides[side] to shared memory.
  void put(unsigned side, unsigned place, unsigned term) {
    const Layout &layout = layouts[side];
    unsigned ofRow = layout.rowBytes / elementBytes;
    unsigned row = layout.isTransposed ? term : place;
    unsigned column = layout.isTransposed ? place : term;
    unsigned at = getBegin(side) + column / ofRow * getLeading(side) +
                  row / 8 * getStride(side) + row % 8 * layout.rowBytes;
    // The index of a 16-byte unit is XORed with the index of its 128-byte line
    // (the swizzle).
    unsigned unit = column % ofRow * elementBytes / 16;
    unsigned line = row % 8 * layout.rowBytes / 128;
    unsigned turned = unit ^ line % (layout.rowBytes / 16);
    at += turned * 16 + column % ofRow * elementBytes % 16;
    uint32_t bits = getBits(sides[side].back());
    if (elementBytes == 2)
      bits >>= 16;
    std::memcpy(shared + at, &bits, elementBytes);
  }

  /// Returns the descriptor (PTX: wgmma) of an operand's terms in one step,
  /// which has 8 words per place.
  uint64_t describe(unsigned side, unsigned step) const {
    const Layout &layout = layouts[side];
    unsigned stepTerms = 32 / elementBytes;
    auto begin = reinterpret_cast<uintptr_t>(shared) + getBegin(side);
    begin +=
        layout.isTransposed ? step * stepTerms * layout.rowBytes : step * 32;
    uint64_t turn = layout.rowBytes == 128 ? 1 : layout.rowBytes == 64 ? 2 : 3;
    return (begin >> 4 & 0x3FFF) | uint64_t(getLeading(side) / 16) << 16 |
           uint64_t(getStride(side) / 16) << 32 | turn << 62;
  }

  /// Returns the expected element of the product. The sum begins with 1, the
  /// initial value of the threads' sums. If `first` isn't 0, returns only the
  /// sum of the terms from `first` on.
  float compute(unsigned row, unsigned column, unsigned first = 0) const {
    float sum = first == 0 ? 1 : 0;
    for (unsigned term = first; term < terms; ++term)
      sum += sides[0][row * terms + term] * sides[1][column * terms + term];
    return sum;
  }

  /// Begins the product of a step's terms, which is added to the calling
  /// thread's `sums`. Returns the new sums, unknown until a wait.
  const float *multiply(unsigned step, const float *sums) const {
    return warp_groups::multiply(
        unsigned(factors), layouts[1].places,
        layouts[0].isTransposed + 2 * layouts[1].isTransposed, shared,
        describe(0, step), describe(1, step), sums);
  }

  void run(void (*body)(void *) = runThread) {
    warp_groups::forget();
    ASSERT_TRUE(fibers::run(kThreads, body, chooseThread, this));
  }

  /// Stores the sums of the calling thread.
  void note(const float *of) {
    std::memcpy(sums[fibers::getThread()], of,
                layouts[1].places / 2 * sizeof(float));
  }

  static void runThread(void *argument) {
    auto &product = *static_cast<Product *>(argument);
    unsigned columns = product.layouts[1].places;
    std::vector<float> before(columns / 2, 1);
    if (product.isFenced)
      warp_groups::fence();
    fibers::wait();
    const float *sums = before.data();
    for (unsigned step = 0; step < 2; ++step) {
      sums = product.multiply(step, sums);
      EXPECT_TRUE(std::isnan(sums[0]));
    }
    warp_groups::commit();
    fibers::wait();
    if (product.isOverwritten)
      std::memset(product.shared, 0xFF, sizeof(product.shared));
    product.note(warp_groups::wait());
  }

  static unsigned chooseThread(void *argument) {
    return static_cast<Product *>(argument)->next++ % kThreads;
  }
};

/// Compares the sums of all threads with `compute`. With `isTwice`, the terms
/// of the second step count twice.
void checkSums(const Product &product, bool isTwice = false) {
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned i = 0; i < product.layouts[1].places / 2; ++i) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      float sum = product.compute(row, column);
      if (isTwice)
        sum += product.compute(row, column, product.terms / 2);
      ASSERT_EQ(product.sums[thread][i], sum)
          << "row " << row << ", column " << column;
    }
}

void check(Layout lhs, Layout rhs, Factors factors) {
  Product product(lhs, rhs, factors);
  product.run();
  checkSums(product);
}

class WarpGroups : public testing::Test {
protected:
  void SetUp() override { tensor_cores::setChip(tensor_cores::Chip::get(9)); }
};

TEST_F(WarpGroups, MultiplyRowsOfTerms) {
  for (unsigned columns : {8U, 24U, 128U, 256U})
    check({kRows, 64, false}, {columns, 64, false}, Factors::kBf16);
}

TEST_F(WarpGroups, MultiplyRowsOfPlaces) {
  check({kRows, 128, true}, {64, 128, true}, Factors::kBf16);
  check({kRows, 128, true}, {256, 128, true}, Factors::kBf16);
  check({kRows, 64, false}, {32, 64, true}, Factors::kBf16);
  check({kRows, 128, true}, {16, 32, true}, Factors::kBf16);
}

TEST_F(WarpGroups, MultiplyTf32) {
  check({kRows, 64, false}, {32, 64, false}, Factors::kTf32);
}

TEST_F(WarpGroups, ReadNothingBeforeTheyWait) {
  Product product({kRows, 64, false}, {8, 64, false}, Factors::kBf16);
  product.isOverwritten = true;
  product.run();
  EXPECT_TRUE(std::isnan(product.sums[0][0]));
}

/// A product in two steps, each of which is committed as a group. After
/// `waitForGroups(left)`, the operands of a step are overwritten.
struct Groups : Product {
  static constexpr unsigned kNone = 2;
  uint32_t left = 1;          ///< groups that may still be in flight
  unsigned overwritten = 0;   ///< step whose operands change; kNone: no step
  bool isTwice = false;       ///< whether the second step is multiplied again
  bool isUncommitted = false; ///< whether the second step isn't committed
  unsigned arrived[4] = {};   ///< threads of each warp that begin to wait

  Groups() : Product({kRows, 128, true}, {64, 128, true}, Factors::kBf16) {}

  void overwrite() {
    constexpr unsigned kStepBytes = 16 * 128;
    for (unsigned side = 0; side < 2 && overwritten != kNone; ++side)
      std::memset(shared + getBegin(side) + overwritten * kStepBytes, 0xFF,
                  kStepBytes);
  }

  static void runThread(void *argument) {
    auto &groups = *static_cast<Groups *>(static_cast<Product *>(argument));
    unsigned thread = fibers::getThread();
    std::vector<float> before(groups.layouts[1].places / 2, 1);
    warp_groups::fence();
    fibers::wait();
    const float *sums = groups.multiply(0, before.data());
    warp_groups::commit();
    sums = groups.multiply(1, sums);
    if (!groups.isUncommitted)
      warp_groups::commit();
    ++groups.arrived[thread / fibers::kWarp];
    warp_groups::waitForGroups(groups.left);
    EXPECT_EQ(groups.arrived[thread / fibers::kWarp], fibers::kWarp);
    fibers::wait();
    if (thread == 0)
      groups.overwrite();
    fibers::wait();
    if (groups.isTwice) {
      warp_groups::fence();
      groups.multiply(1, sums);
      warp_groups::commit();
    }
    groups.note(warp_groups::wait());
  }
};

TEST_F(WarpGroups, WaitForAllButOneGroup) {
  Groups groups;
  groups.run(Groups::runThread);
  checkSums(groups);
}

TEST_F(WarpGroups, ReadLaterGroupsLater) {
  Groups groups;
  groups.overwritten = 1;
  groups.run(Groups::runThread);
  EXPECT_TRUE(std::isnan(groups.sums[0][0]));
  Groups both;
  both.left = 2;
  both.run(Groups::runThread);
  EXPECT_TRUE(std::isnan(both.sums[0][0]));
}

TEST_F(WarpGroups, KeepTheirSums) {
  for (uint32_t left : {0U, 1U, 2U}) {
    Groups groups;
    groups.left = left;
    groups.overwritten = Groups::kNone;
    groups.isTwice = true;
    groups.run(Groups::runThread);
    checkSums(groups, true);
  }
}

TEST_F(WarpGroups, DontWaitForWhatNoGroupHas) {
  Groups groups;
  groups.overwritten = Groups::kNone;
  groups.isUncommitted = true;
  groups.run(Groups::runThread);
  EXPECT_TRUE(std::isnan(groups.sums[0][0]));
}

TEST_F(WarpGroups, KnowNothingWithoutAFence) {
  Product product({kRows, 64, false}, {8, 64, false}, Factors::kBf16);
  product.isFenced = false;
  product.run();
  EXPECT_TRUE(std::isnan(product.sums[0][0]));
}

} // namespace
