//===- BenchRanksTest.cpp - The rate of a link by its messages ------------===//

#include "gtest/gtest.h"

extern "C" {
#include "commands/bench_ranks.h"
}

namespace {
constexpr uint64_t kBytes = 4000000;
} // namespace

TEST(Links, HaveRatesAfterTheirLatency) {
  EXPECT_DOUBLE_EQ(hfta_link_rate(2e-6, 2e-3, kBytes), kBytes / (2e-3 - 2e-6));
  EXPECT_DOUBLE_EQ(hfta_link_rate(4e-3, 8e-3, kBytes), kBytes / 4e-3);
}

TEST(Links, AreNoFasterThanTheyCanBeToldToBe) {
  // A large message takes no longer than the smallest one, or even less.
  for (double large : {1e-3, 4e-3, 4.000001e-3, 7.9e-3})
    EXPECT_DOUBLE_EQ(hfta_link_rate(4e-3, large, kBytes), kBytes / large);
  EXPECT_GT(hfta_link_rate(0.0, 0.0, kBytes), 0.0);
  EXPECT_LE(hfta_link_rate(0.0, 0.0, kBytes), kBytes * 1e9);
}
