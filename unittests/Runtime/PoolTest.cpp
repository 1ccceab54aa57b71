//===- PoolTest.cpp - Threads and kernel launches -------------------------===//

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

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void addItem(void *const *buffers, int64_t item, void *scratch) {
  const int *shared = static_cast<const int *>(buffers[0]);
  int *own = static_cast<int *>(buffers[1]);
  *static_cast<int *>(scratch) = *shared + static_cast<int>(item);
  own[item] += *static_cast<int *>(scratch);
}

TEST(Launch, BindsEachCopysBuffers) {
  const int copies = 5, items = 7;
  for (int threads : {1, 2, 3}) {
    PoolPointer pool = makePool(threads, 64);
    int shared[4] = {0, 0, 100, 0};
    std::vector<int> own(copies * 16 + 3);
    void *segments[] = {shared, own.data()};
    hfta_binding bindings[] = {{0, 0, 8, 0}, {1, 0, 12, 64}};
    hfta_task_context context = {segments, pool.get(), 0, copies};
    hfta_launch_info info = {addItem, "add", bindings, 2, 1, items, 64};
    hfta_launch(&context, &info, 1);
    for (int copy = 0; copy < copies; ++copy)
      for (int item = 0; item < items; ++item)
        EXPECT_EQ(own[3 + copy * 16 + item], 100 + item);
    info.per_copy = 0;
    hfta_launch(&context, &info, 1);
    EXPECT_EQ(own[3], 200);
    EXPECT_EQ(own[3 + 16], 100);
  }
}

static void doubleItem(void *const *buffers, int64_t item, void *) {
  static_cast<int *>(buffers[0])[item] *= 2;
}

// Whole copies to each thread, the rest shared: in the kernels' order.
TEST(Launch, RunsSeveralKernelsForEachCopy) {
  const int copies = 5, items = 7;
  for (int threads : {1, 2, 3, 8}) {
    PoolPointer pool = makePool(threads, 64);
    int shared = 3;
    std::vector<int> own(copies * 16);
    void *segments[] = {&shared, own.data()};
    hfta_binding bindings[] = {{0, 0, 0, 0}, {1, 0, 0, 64}};
    hfta_task_context context = {segments, pool.get(), 0, copies};
    hfta_launch_info infos[] = {
        {addItem, "add", bindings, 2, 1, items, 64},
        {doubleItem, "double", bindings + 1, 1, 1, items, 0},
        {addItem, "nothing", bindings, 2, 1, 0, 64},
        {addItem, "add", bindings, 2, 1, items, 64}};
    hfta_launch(&context, infos, 4);
    for (int copy = 0; copy < copies; ++copy)
      for (int item = 0; item < items; ++item)
        EXPECT_EQ(own[copy * 16 + item], 3 * (3 + item));
  }
}

TEST(Launch, FewerCopiesLeaveTheOthersAlone) {
  PoolPointer pool = makePool(2, 64);
  int shared = 1, own[3] = {0, 0, 0};
  void *segments[] = {&shared, own};
  hfta_binding bindings[] = {{0, 0, 0, 0}, {1, 0, 0, 4}};
  hfta_task_context context = {segments, pool.get(), 0, 2};
  hfta_launch_info info = {addItem, "add", bindings, 2, 1, 1, 64};
  hfta_launch(&context, &info, 1);
  EXPECT_EQ(own[0], 1);
  EXPECT_EQ(own[1], 1);
  EXPECT_EQ(own[2], 0);
}

TEST(Launch, RefusesKernelsThatNeedMoreScratch) {
  PoolPointer pool = makePool(1, 64);
  hfta_task_context context = {nullptr, pool.get(), 0, 1};
  hfta_launch_info info = {addItem, "greedy", nullptr, 0, 1, 1, 65};
  EXPECT_EQ(hfta_pool_refused_kernel(pool.get()), nullptr);
  hfta_launch(&context, &info, 1);
  EXPECT_STREQ(hfta_pool_refused_kernel(pool.get()), "greedy");
}
