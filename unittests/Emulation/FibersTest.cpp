//===- FibersTest.cpp - Threads of a block that wait for each other -------===//

#include "Fibers.h"

#include "gtest/gtest.h"

#include <csetjmp>
#include <vector>

namespace {

constexpr unsigned kCount = 5;

/// What threads do, one after the other.
struct Block {
  unsigned next = 0, current = 0;
  unsigned waits = 2;          ///< of each thread
  unsigned leaver = kCount;    ///< waits once less than others
  std::vector<unsigned> order; ///< of threads, as they go on
  std::vector<unsigned> shared = std::vector<unsigned>(kCount);
  std::jmp_buf *out = nullptr;
};

unsigned chooseThread(void *argument) {
  auto *block = static_cast<Block *>(argument);
  block->current = kCount - 1 - block->next;
  block->next = (block->next + 1) % kCount;
  return block->current;
}

void runThread(void *argument) {
  auto *block = static_cast<Block *>(argument);
  unsigned own = block->current; // on the thread's own stack
  unsigned waits = block->waits - (own == block->leaver ? 1 : 0);
  for (unsigned round = 0; round < waits; ++round) {
    block->order.push_back(own);
    block->shared[own] = 10 * round + own;
    fibers::wait();
    // Its neighbour has written, too.
    EXPECT_EQ(block->shared[(own + 1) % kCount],
              10 * round + (own + 1) % kCount);
    fibers::wait();
  }
  if (block->out && own == 2)
    std::longjmp(*block->out, 1);
}

TEST(Fibers, AllWriteBeforeOneGoesOn) {
  Block block;
  EXPECT_TRUE(fibers::run(kCount, runThread, chooseThread, &block));
  EXPECT_EQ(block.order, std::vector<unsigned>({4, 3, 2, 1, 0, 4, 3, 2, 1, 0}));
}

TEST(Fibers, RunWithoutWaiting) {
  Block block;
  block.waits = 0;
  EXPECT_TRUE(fibers::run(kCount, runThread, chooseThread, &block));
}

TEST(Fibers, WhoeverLeavesOthersIsFound) {
  Block block;
  block.leaver = 3;
  EXPECT_FALSE(fibers::run(kCount, runThread, chooseThread, &block));
  // The next block knows nothing of it.
  Block other;
  EXPECT_TRUE(fibers::run(kCount, runThread, chooseThread, &other));
}

TEST(Fibers, ABodyMayBeLeftByAJump) {
  std::jmp_buf out;
  static Block block;
  block.out = &out;
  if (setjmp(out) == 0) {
    fibers::run(kCount, runThread, chooseThread, &block);
    ADD_FAILURE() << "nobody jumped";
  }
  Block other;
  EXPECT_TRUE(fibers::run(kCount, runThread, chooseThread, &other));
}

/// Threads of two warps, the second of which has few.
struct Warps {
  static constexpr unsigned kCount = fibers::kWarp + 8;
  unsigned next = 0;
  unsigned arrived[2] = {0, 0};
  bool waitsForAll = false; ///< one of them, where others wait for their warp
};

unsigned chooseOfWarps(void *argument) {
  auto *warps = static_cast<Warps *>(argument);
  return warps->next++ % Warps::kCount;
}

void runInWarp(void *argument) {
  auto *warps = static_cast<Warps *>(argument);
  unsigned own = fibers::getThread(), warp = own / fibers::kWarp;
  if (warps->waitsForAll && own == 3)
    return fibers::wait();
  ++warps->arrived[warp];
  fibers::waitForWarp();
  EXPECT_EQ(warps->arrived[warp], warp == 0 ? fibers::kWarp : 8);
  // The second warp is here only once.
  if (warp == 0)
    fibers::waitForWarp();
  fibers::wait();
}

TEST(Fibers, WarpsGoOnByThemselves) {
  Warps warps;
  EXPECT_TRUE(fibers::run(Warps::kCount, runInWarp, chooseOfWarps, &warps));
}

TEST(Fibers, WhoeverWaitsForSomethingElseIsFound) {
  Warps warps;
  warps.waitsForAll = true;
  EXPECT_FALSE(fibers::run(Warps::kCount, runInWarp, chooseOfWarps, &warps));
}

} // namespace
