//===- PoolTest.cpp - Threads ---------------------------------------------===//

#include "hfta/pool.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using PoolPointer = std::unique_ptr<hfta_pool, void (*)(hfta_pool *)>;

static PoolPointer makePool(int threads, uint64_t scratch = 0) {
  hfta_pool *pool = nullptr;
  EXPECT_EQ(hfta_pool_create(threads, scratch, &pool, nullptr), HFTA_OK);
  return PoolPointer(pool, hfta_pool_destroy);
}

namespace {
struct Visits {
  std::vector<int> count;
};
} // namespace

static void visit(void *argument, int64_t begin, int64_t end, int) {
  Visits *visits = static_cast<Visits *>(argument);
  for (int64_t i = begin; i < end; ++i)
    ++visits->count[i];
}

TEST(Pool, VisitsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 7, 16}) {
    PoolPointer pool = makePool(threads);
    EXPECT_EQ(hfta_pool_threads(pool.get()), threads);
    for (int count : {0, 1, 2, 3, 15, 16, 17, 1000}) {
      Visits visits = {std::vector<int>(count)};
      hfta_parallel_for(pool.get(), count, visit, &visits);
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(visits.count[i], 1);
    }
  }
}

// More work than 32 bits can number is passed in larger units.
TEST(Pool, NumbersMuchWork) {
  PoolPointer pool = makePool(2);
  std::atomic<int64_t> sum = 0;
  auto add = [](void *argument, int64_t begin, int64_t end, int) {
    *static_cast<std::atomic<int64_t> *>(argument) += end - begin;
  };
  for (int64_t count :
       {int64_t(UINT32_MAX), int64_t(UINT32_MAX) + 1, (int64_t(1) << 40) + 7}) {
    sum = 0;
    hfta_parallel_for(pool.get(), count, add, &sum);
    EXPECT_EQ(sum, count);
  }
}

// A thread that is kept from running holds up one piece of its work: here the
// first one, until the other thread has done all but that.
TEST(Pool, TakesWorkFromSlowThreads) {
  struct Work {
    std::atomic<int> done = 0;
    std::atomic<bool> isLate = false;
  } work;
  PoolPointer pool = makePool(2);
  auto run = [](void *argument, int64_t begin, int64_t end, int) {
    Work *self = static_cast<Work *>(argument);
    // The first piece of a range of 32 has 4 units.
    for (int waits = 0; begin == 0 && self->done < 60; ++waits) {
      if (waits == 5000) {
        self->isLate = true;
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    self->done += static_cast<int>(end - begin);
  };
  hfta_parallel_for(pool.get(), 64, run, &work);
  EXPECT_EQ(work.done, 64);
  EXPECT_FALSE(work.isLate);
}

TEST(Pool, ManyShortRoundsSeeEachOthersWrites) {
  PoolPointer pool = makePool(3);
  std::vector<int64_t> values(64);
  auto copyNeighbour = [](void *argument, int64_t begin, int64_t end, int) {
    std::vector<int64_t> &all = *static_cast<std::vector<int64_t> *>(argument);
    for (int64_t i = begin; i < end; ++i)
      all[i + 32] = all[i];
  };
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 32; ++i)
      values[i] = round;
    hfta_parallel_for(pool.get(), 32, copyNeighbour, &values);
    for (int i = 32; i < 64; ++i)
      ASSERT_EQ(values[i], round);
  }
}

TEST(Pool, RefusesThreadCountsOutOfRange) {
  for (int threads : {-1, 257}) {
    hfta_pool *pool = nullptr;
    hfta_error error;
    EXPECT_EQ(hfta_pool_create(threads, 0, &pool, &error), HFTA_USAGE);
    EXPECT_EQ(pool, nullptr);
    EXPECT_EQ(std::string(error.message),
              std::to_string(threads) +
                  " threads asked for, 1 to 256 possible");
  }
}

TEST(Pool, DefaultsToTheProcessorsItMayUse) {
  PoolPointer pool = makePool(0);
  EXPECT_EQ(hfta_pool_threads(pool.get()), hfta_pool_default_threads());
}

TEST(Pool, ScratchIsPrivateAndAligned) {
  PoolPointer pool = makePool(4, 100);
  for (int i = 0; i < 4; ++i) {
    char *scratch = static_cast<char *>(hfta_pool_scratch(pool.get(), i));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
    memset(scratch, i, 100);
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(*static_cast<char *>(hfta_pool_scratch(pool.get(), i)), i);
}
