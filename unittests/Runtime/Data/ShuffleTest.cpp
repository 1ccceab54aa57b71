//===- ShuffleTest.cpp - Random numbers and orders ------------------------===//

extern "C" {
#include "data/shuffle.h"
#include "system/philox.h"
}

#include "gtest/gtest.h"

#include <vector>

// These are the known answers for philox4x32-10 in Random123's file
// kat_vectors: counter, key and result.
TEST(Philox, KnownAnswers) {
  const uint32_t answers[3][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
       0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
       0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (const uint32_t *row : answers) {
    uint32_t out[4];
    hfta_philox4x32(row, row + 4, out);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(out[i], row[6 + i]);
  }
}

static std::vector<uint64_t> orderOf(uint64_t samples, uint64_t epoch,
                                     uint64_t seed, int shuffled = 1) {
  hfta_order order = hfta_order_of_epoch(samples, epoch, seed, shuffled);
  std::vector<uint64_t> all(samples);
  for (uint64_t i = 0; i < samples; ++i)
    all[i] = hfta_order_sample(&order, i);
  return all;
}

static bool isPermutation(const std::vector<uint64_t> &order) {
  std::vector<bool> seen(order.size());
  for (uint64_t sample : order) {
    if (sample >= order.size() || seen[sample])
      return false;
    seen[sample] = true;
  }
  return true;
}

TEST(Order, IsAPermutation) {
  for (uint64_t samples = 0; samples < 300; ++samples)
    EXPECT_TRUE(isPermutation(orderOf(samples, samples % 5, 7))) << samples;
  EXPECT_TRUE(isPermutation(orderOf(60000, 3, 1)));
  EXPECT_TRUE(isPermutation(orderOf(65536, 0, ~0ull)));
}

TEST(Order, DependsOnEpochAndSeed) {
  EXPECT_EQ(orderOf(1000, 2, 5), orderOf(1000, 2, 5));
  EXPECT_NE(orderOf(1000, 2, 5), orderOf(1000, 3, 5));
  EXPECT_NE(orderOf(1000, 2, 5), orderOf(1000, 2, 6));
  EXPECT_NE(orderOf(1000, 2, 5), orderOf(1000, 2, 5 + (1ull << 40)));
}

TEST(Order, WithoutShufflingIsTheFilesOrder) {
  std::vector<uint64_t> order = orderOf(100, 4, 9, 0);
  for (uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(order[i], i);
}

// Each sample is about equally often in each tenth of an epoch, and
// neighbouring samples are separated.
TEST(Order, SpreadsSamples) {
  const uint64_t samples = 1000, epochs = 400;
  std::vector<int> tenths(100);
  int neighbours = 0;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    std::vector<uint64_t> order = orderOf(samples, epoch, 11);
    for (uint64_t i = 0; i < samples; ++i) {
      ++tenths[i / 100 * 10 + order[i] / 100];
      neighbours += i > 0 && order[i] == order[i - 1] + 1;
    }
  }
  for (int count : tenths)
    EXPECT_NEAR(count, 4000, 300);
  EXPECT_NEAR(neighbours, 400, 100);
}

// The results of trainings depend on this order, so it must never change.
TEST(Order, StaysAsItIs) {
  EXPECT_EQ(orderOf(10, 1, 7),
            (std::vector<uint64_t>{8, 1, 6, 3, 5, 4, 7, 0, 9, 2}));
}
