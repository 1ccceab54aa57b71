//===- ArenaPlanTest.cpp - Tests of segments' windows in the arena --------===//

#include "Spill/ArenaPlan.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace mlir;
using namespace mlir::hfta;

namespace {

constexpr int64_t kPage = 4096;

/// Makes the segments of a step through a chain of blocks: for each block, its
/// parameters, which have the given number of pages, and one page of saved
/// values. The block's forward reads the parameters and writes the saved
/// values; its backward reads both and writes the parameters.
std::vector<ArenaSegment> makeChain(ArrayRef<int64_t> pages, bool spillsSaved) {
  std::vector<ArenaSegment> segments;
  auto blocks = static_cast<int64_t>(pages.size());
  for (auto [index, count] : llvm::enumerate(pages)) {
    auto block = static_cast<int64_t>(index);
    int64_t backward = 2 * blocks - 1 - block;
    segments.push_back({2 * block,
                        count * kPage,
                        /*isSpilled=*/true,
                        /*isState=*/true,
                        /*isHeld=*/false,
                        Contents::undefined,
                        {{block, true, false}, {backward, true, true}}});
    segments.push_back({2 * block + 1,
                        kPage,
                        spillsSaved,
                        /*isState=*/false,
                        /*isHeld=*/false,
                        Contents::undefined,
                        {{block, false, true}, {backward, true, false}}});
  }
  return segments;
}

/// Checks that each use lies in exactly one window of its segment, and that
/// windows with common bytes have no position in common.
void check(ArrayRef<ArenaSegment> segments, const ArenaPlan &plan) {
  for (const ArenaSegment &segment : segments)
    for (const ArenaUse &use : segment.uses) {
      int64_t found = 0;
      for (const ArenaWindow &window : plan.windows)
        found += window.segment == segment.number &&
                 window.first <= use.position && use.position <= window.last;
      EXPECT_EQ(found, 1) << "segment " << segment.number << " at "
                          << use.position;
    }
  for (const ArenaWindow &window : plan.windows) {
    EXPECT_LE(window.interval.first, window.first);
    EXPECT_GE(window.interval.last, window.last);
    EXPECT_EQ(window.interval.offset % kPage, 0);
    EXPECT_LE(window.interval.offset + window.interval.bytes, plan.bytes);
    for (const ArenaWindow &other : plan.windows) {
      if (&other == &window)
        continue;
      bool together = other.interval.first <= window.interval.last &&
                      window.interval.first <= other.interval.last;
      bool overlaps =
          other.interval.offset <
              window.interval.offset + window.interval.bytes &&
          window.interval.offset < other.interval.offset + other.interval.bytes;
      EXPECT_FALSE(together && overlaps);
    }
  }
}

int64_t countTransferred(const ArenaPlan &plan) {
  int64_t bytes = 0;
  for (const ArenaWindow &window : plan.windows)
    bytes += window.interval.bytes *
             (window.evicts + (window.contents == Contents::stored));
  return bytes;
}

TEST(ArenaPlan, FetchesAPositionAheadWhereThatFits) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, false);
  // There is room for the parameters of three blocks, one being evicted, one in
  // use and one being fetched, and for all saved values.
  ArenaPlan plan = planArena(segments, 18 * kPage);
  check(segments, plan);
  EXPECT_LE(plan.bytes, 18 * kPage);
  for (const ArenaWindow &window : plan.windows)
    if (window.contents == Contents::stored && window.first > 0)
      EXPECT_LT(window.interval.first, window.first);
}

TEST(ArenaPlan, WaitsForTransfersWhereNothingElseFits) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, false);
  ArenaPlan plan = planArena(segments, 8 * kPage);
  check(segments, plan);
  EXPECT_LE(plan.bytes, 8 * kPage);
}

TEST(ArenaPlan, TellsTheLeastWhereNothingFits) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, false);
  ArenaPlan plan = planArena(segments, kPage);
  check(segments, plan);
  // The last block's backward needs its four pages of parameters and the four
  // pages that all blocks have saved.
  EXPECT_EQ(plan.bytes, 8 * kPage);
}

TEST(ArenaPlan, KeepsWhatIsUsedAgainSoon) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, false);
  ArenaPlan plan = planArena(segments, 18 * kPage);
  int64_t ofLast = llvm::count_if(plan.windows, [](const ArenaWindow &window) {
    return window.segment == 6;
  });
  EXPECT_EQ(ofLast, 1);
}

TEST(ArenaPlan, HoldsWhatItIsToHoldBeforeWhatIsUsedAgainSooner) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, false);
  auto countOfFirst = [&] {
    ArenaPlan plan = planArena(segments, 18 * kPage);
    check(segments, plan);
    EXPECT_LE(plan.bytes, 18 * kPage);
    return llvm::count_if(plan.windows, [](const ArenaWindow &window) {
      return window.segment == 0;
    });
  };
  EXPECT_EQ(countOfFirst(), 2);
  segments.front().isHeld = true;
  EXPECT_EQ(countOfFirst(), 1);
}

TEST(ArenaPlan, KeepsAllWhereAllFits) {
  std::vector<ArenaSegment> segments = makeChain({4, 4, 4, 4}, true);
  ArenaPlan plan = planArena(segments, 1000 * kPage);
  check(segments, plan);
  EXPECT_EQ(plan.windows.size(), 8u);
  // Parameters are fetched once and evicted once; saved values stay in memory.
  EXPECT_EQ(countTransferred(plan), 2 * 16 * kPage);
}

/// If there is room, no segment is placed at bytes that are still being written
/// to the store, because its first task would have to wait.
TEST(ArenaPlan, GivesEvictionsTimeBehindWhatWasJoined) {
  std::vector<ArenaSegment> segments;
  constexpr int64_t kBlocks = 8;
  // Each block's result is read by the next block and by the block's backward.
  for (int64_t block = 0; block < kBlocks; ++block)
    segments.push_back({block,
                        kPage,
                        /*isSpilled=*/true,
                        /*isState=*/false,
                        /*isHeld=*/false,
                        Contents::undefined,
                        {{block, false, true},
                         {block + 1, true, false},
                         {3 * kBlocks - block, true, false}}});
  ArenaPlan plan = planArena(segments, /*capacity=*/3 * kPage);
  check(segments, plan);
  EXPECT_LE(plan.bytes, 3 * kPage);
  int64_t evicted = 0;
  for (const ArenaWindow &window : plan.windows) {
    if (!window.evicts)
      continue;
    ++evicted;
    EXPECT_EQ(window.last, window.first + 1);
    EXPECT_GT(window.interval.last, window.last);
  }
  EXPECT_GE(evicted, kBlocks - 3);
}

TEST(ArenaPlan, WritesBackWhatWasWrittenAndIsNeeded) {
  std::vector<ArenaSegment> segments = makeChain({1, 1, 1}, true);
  ArenaPlan plan = planArena(segments, 3 * kPage);
  check(segments, plan);
  for (const ArenaWindow &window : plan.windows) {
    bool isBackward = window.last >= 3;
    if (window.segment % 2 == 0)
      EXPECT_EQ(window.evicts, isBackward);
    else
      EXPECT_EQ(window.contents == Contents::stored, window.first >= 3);
  }
}

TEST(ArenaPlan, RandomStepsFitAndLessMemoryNeverMovesFewerBytes) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<int64_t> pages(2 + random() % 7);
    for (int64_t &count : pages)
      count = 1 + random() % 9;
    std::vector<ArenaSegment> segments = makeChain(pages, random() % 2 == 0);
    int64_t least = planArena(segments, 0).bytes;
    ArenaPlan all = planArena(segments, 1000 * kPage);
    for (int64_t capacity = least; capacity <= all.bytes;
         capacity += 2 * kPage) {
      ArenaPlan plan = planArena(segments, capacity);
      check(segments, plan);
      EXPECT_LE(plan.bytes, capacity);
      EXPECT_GE(countTransferred(plan), countTransferred(all));
    }
  }
}

} // namespace
