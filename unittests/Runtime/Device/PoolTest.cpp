//===- PoolTest.cpp - Threads ---------------------------------------------===//

#include "hfta/pool.h"

#include "gtest/gtest.h"

#include <cstring>
#include <memory>
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
  std::vector<int> thread;
};
} // namespace

static void visit(void *argument, int64_t begin, int64_t end, int thread) {
  Visits *visits = static_cast<Visits *>(argument);
  for (int64_t i = begin; i < end; ++i) {
    ++visits->count[i];
    visits->thread[i] = thread;
  }
}

TEST(Pool, VisitsEveryIndexOnceInContiguousRanges) {
  for (int threads : {1, 2, 3, 7, 16}) {
    PoolPointer pool = makePool(threads);
    EXPECT_EQ(hfta_pool_threads(pool.get()), threads);
    for (int count : {0, 1, 2, 3, 15, 16, 17, 1000}) {
      Visits visits = {std::vector<int>(count), std::vector<int>(count)};
      hfta_parallel_for(pool.get(), count, visit, &visits);
      for (int i = 0; i < count; ++i) {
        EXPECT_EQ(visits.count[i], 1);
        if (i > 0)
          EXPECT_GE(visits.thread[i], visits.thread[i - 1]);
      }
    }
  }
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
