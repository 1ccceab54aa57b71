//===- BenchRanksTest.cpp - Rates of links from times of messages ---------===//

#include "gtest/gtest.h"

extern "C" {
#include "command_line/bench/bench_ranks.h"
}

namespace {
constexpr uint64_t kBytes = 4000000;
} // namespace

TEST(Links, HaveRatesAfterTheirLatency) {
  EXPECT_DOUBLE_EQ(hfta_link_rate(2e-6, 2e-3, kBytes), kBytes / (2e-3 - 2e-6));
  EXPECT_DOUBLE_EQ(hfta_link_rate(4e-3, 8e-3, kBytes), kBytes / 4e-3);
}

TEST(Links, AreNoFasterThanTheyCanBeToldToBe) {
  // If a large message takes less than twice the time of the smallest one, its
  // whole time counts as transfer.
  for (double large : {1e-3, 4e-3, 4.000001e-3, 7.9e-3})
    EXPECT_DOUBLE_EQ(hfta_link_rate(4e-3, large, kBytes), kBytes / large);
  EXPECT_GT(hfta_link_rate(0.0, 0.0, kBytes), 0.0);
  EXPECT_LE(hfta_link_rate(0.0, 0.0, kBytes), kBytes * 1e9);
}
