//===- FibersTest.cpp - Tests of the threads of emulated blocks -----------===//

#include "Fibers.h"

#include "gtest/gtest.h"

#include <csetjmp>
#include <vector>

namespace {

constexpr unsigned kCount = 5;

/// A block of `kCount` threads, which run in descending order of their numbers
/// between two waits.
struct Block {
  unsigned next = 0, current = 0;
  unsigned waits = 2;          ///< rounds of two waits that each thread makes
  unsigned leaver = kCount;    ///< a thread that makes one round less than the
                               ///< others; kCount: none
  std::vector<unsigned> order; ///< threads in the order in which rounds begin
  std::vector<unsigned> shared = std::vector<unsigned>(kCount);
  std::jmp_buf *out = nullptr; ///< where thread 2 jumps to; null: nowhere
};

unsigned chooseThread(void *argument) {
  auto *block = static_cast<Block *>(argument);
  block->current = kCount - 1 - block->next;
  block->next = (block->next + 1) % kCount;
  return block->current;
}

void runThread(void *argument) {
  auto *block = static_cast<Block *>(argument);
  unsigned own = block->current; // must survive switches of threads
  unsigned waits = block->waits - (own == block->leaver ? 1 : 0);
  for (unsigned round = 0; round < waits; ++round) {
    block->order.push_back(own);
    block->shared[own] = 10 * round + own;
    fibers::wait();
    // All threads have written their numbers before any of them returns from
    // the wait, so the neighbour has, too.
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
  // A failed block doesn't affect the next one.
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

/// A block of a full warp and a warp of 8 threads.
struct Warps {
  static constexpr unsigned kCount = fibers::kWarp + 8;
  unsigned next = 0;
  unsigned arrived[2] = {0, 0};
  bool waitsForAll = false; ///< whether thread 3 waits for the block while the
                            ///< other threads of its warp wait for the warp
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
  // The first warp waits once more, without the second one.
  if (warp == 0)
    fibers::waitForWarp();
  fibers::wait();
}

TEST(Fibers, WarpsGoOnByThemselves) {
  Warps warps;
  EXPECT_TRUE(fibers::run(Warps::kCount, runInWarp, chooseOfWarps, &warps));
}

/// Four warps that wait at named barriers.
struct Numbered {
  static constexpr unsigned kCount = 4 * fibers::kWarp;
  unsigned next = 0;
  unsigned arrived[2] = {0, 0};          ///< arrivals at barriers 0 and 1
  unsigned expected = 2 * fibers::kWarp; ///< threads that barriers 0 and 4 wait
                                         ///< for

  static unsigned choose(void *argument) {
    return static_cast<Numbered *>(argument)->next++ % kCount;
  }
};

/// The first and the third warp wait at barriers 0 and 4, the second and the
/// fourth warp at barriers 1 and 5.
void runAtNumbered(void *argument) {
  auto *block = static_cast<Numbered *>(argument);
  unsigned warp = fibers::getThread() / fibers::kWarp, barrier = warp % 2;
  unsigned count = barrier == 0 ? block->expected : 2 * fibers::kWarp;
  for (unsigned round = 1; round <= 3; ++round) {
    ++block->arrived[barrier];
    fibers::waitAt(barrier, count);
    EXPECT_EQ(block->arrived[barrier], round * 2 * fibers::kWarp);
    fibers::waitAt(4 + barrier, count);
  }
  fibers::wait();
}

TEST(Fibers, SomeThreadsWaitForEachOther) {
  Numbered block;
  EXPECT_TRUE(
      fibers::run(Numbered::kCount, runAtNumbered, Numbered::choose, &block));
}

TEST(Fibers, TooFewAtABarrierAreFound) {
  Numbered block;
  block.expected = 3 * fibers::kWarp;
  EXPECT_FALSE(
      fibers::run(Numbered::kCount, runAtNumbered, Numbered::choose, &block));
  EXPECT_EQ(fibers::getFailure(), nullptr);
}

TEST(Fibers, OddBarriersFail) {
  struct Odd {
    uint32_t barrier, count, other;
  };
  for (Odd odd :
       {Odd{16, 32, 32}, Odd{0, 0, 0}, Odd{0, 33, 33}, Odd{0, 64, 96}}) {
    auto body = [](void *argument) {
      auto *own = static_cast<Odd *>(argument);
      fibers::waitAt(own->barrier,
                     fibers::getThread() == 0 ? own->count : own->other);
    };
    static unsigned next;
    auto choose = [](void *) { return next++ % 64; };
    EXPECT_FALSE(fibers::run(64, body, choose, &odd));
    EXPECT_NE(fibers::getFailure(), nullptr);
  }
}

/// Threads that each add one to `count` and wait until it is `expected`. The
/// condition must not be evaluated while another thread can run.
struct Conditions {
  unsigned next = 0, count = 0, expected = kCount;
  bool isAsked = false;

  static unsigned choose(void *argument) {
    return static_cast<Conditions *>(argument)->next++ % kCount;
  }
  static bool holds(void *argument) {
    auto *own = static_cast<Conditions *>(argument);
    own->isAsked = true;
    return own->count >= own->expected;
  }
  static void runThread(void *argument) {
    auto *own = static_cast<Conditions *>(argument);
    EXPECT_FALSE(own->isAsked);
    ++own->count;
    fibers::waitUntil(holds, own);
    EXPECT_EQ(own->count, kCount);
  }
};

TEST(Fibers, AConditionIsAskedWhenNobodyGoesOn) {
  Conditions block;
  EXPECT_TRUE(
      fibers::run(kCount, Conditions::runThread, Conditions::choose, &block));
}

TEST(Fibers, WhatNeverHoldsIsFound) {
  Conditions block;
  block.expected = kCount + 1;
  EXPECT_FALSE(
      fibers::run(kCount, Conditions::runThread, Conditions::choose, &block));
  EXPECT_EQ(fibers::getFailure(), nullptr);
}

TEST(Fibers, WhoYieldsGoesOnLast) {
  struct Order {
    unsigned next = 0, asked = 0, done = 0;
  } order;
  auto body = [](void *argument) {
    auto *own = static_cast<Order *>(argument);
    if (fibers::getThread() == 0) {
      fibers::yield();
      EXPECT_EQ(own->done, kCount - 1);
      return;
    }
    fibers::waitUntil(
        [](void *asked) { return ++*static_cast<unsigned *>(asked) > 2; },
        &own->asked);
    ++own->done;
  };
  auto choose = [](void *argument) {
    return static_cast<Order *>(argument)->next++ % kCount;
  };
  EXPECT_TRUE(fibers::run(kCount, body, choose, &order));
}

TEST(Fibers, WhoFailsStopsAll) {
  static unsigned next;
  next = 0;
  auto body = [](void *argument) {
    if (fibers::getThread() == 1)
      fibers::fail("has failed");
    ++*static_cast<unsigned *>(argument);
  };
  auto choose = [](void *) { return next++ % kCount; };
  unsigned ended = 0;
  EXPECT_FALSE(fibers::run(kCount, body, choose, &ended));
  EXPECT_EQ(ended, 1U);
  EXPECT_STREQ(fibers::getFailure(), "has failed");
  auto nothing = [](void *) {};
  EXPECT_TRUE(fibers::run(kCount, nothing, choose, nullptr));
  EXPECT_EQ(fibers::getFailure(), nullptr);
}

TEST(Fibers, WhoeverWaitsForSomethingElseIsFound) {
  Warps warps;
  warps.waitsForAll = true;
  EXPECT_FALSE(fibers::run(Warps::kCount, runInWarp, chooseOfWarps, &warps));
}

} // namespace
