//===- LaunchTest.cpp - Tests of tasks on a pool of threads ---------------===//

#include "hfta/launch.h"

#include "gtest/gtest.h"

#include <memory>
#include <vector>

namespace {
/// A task with these launches on two segments. The first segment never has
/// slabs; the second one has slabs if bindings say so.
class Task {
public:
  Task(std::vector<hfta_launch> launches, void *shared, void *own,
       int threads = 2)
      : launches(std::move(launches)), segments{shared, own},
        pool(makePool(threads), hfta_pool_destroy) {}

  void keepSlabs() { keeps[1] = true; }
  /// Gives the second segment values for some copies only.
  void setPlaces(const int32_t *places) { rows[1].places = places; }
  /// Sets the task's flags.
  void setFlags(uint32_t to) { flags = to; }
  /// Adds the seconds of launches to `into`.
  void time(const hfta_launch_times *into) { times = into; }

  hfta_status run(std::vector<int32_t> copies, hfta_error *error = nullptr) {
    hfta_task task = {};
    task.name = "task";
    task.launches = launches.data();
    task.launch_count = launches.size();
    task.flags = flags;
    hfta_task_call call = {&task,
                           segments,
                           keeps,
                           copies.data(),
                           /*slabs=*/nullptr,
                           static_cast<int64_t>(copies.size()),
                           -1,
                           rows,
                           times};
    return hfta_run_task(pool.get(), &call, error);
  }

private:
  static hfta_pool *makePool(int threads) {
    hfta_pool *pool = nullptr;
    EXPECT_EQ(hfta_pool_create(threads, 64, &pool, nullptr), HFTA_OK);
    return pool;
  }

  std::vector<hfta_launch> launches;
  void *segments[2];
  bool keeps[2] = {false, false};
  hfta_segment rows[2] = {};
  uint32_t flags = 0;
  const hfta_launch_times *times = nullptr;
  std::unique_ptr<hfta_pool, void (*)(hfta_pool *)> pool;
};
} // namespace

/// Returns a binding without a size, which no test here needs.
static hfta_binding bindTo(uint32_t segment, uint32_t inSlabs, uint64_t offset,
                           uint64_t stride) {
  hfta_binding binding = {};
  binding.segment = segment;
  binding.in_slabs = inSlabs;
  binding.offset = offset;
  binding.copy_stride = stride;
  return binding;
}

static hfta_launch launchOf(hfta_kernel kernel, const hfta_binding *bindings,
                            uint32_t count, int64_t items) {
  hfta_launch launch = {};
  launch.kernel = kernel;
  launch.name = "kernel";
  launch.bindings = bindings;
  launch.binding_count = count;
  launch.per_copy = 1;
  launch.copy = -1;
  launch.items = items;
  launch.scratch_bytes = 64;
  return launch;
}

/// Returns the launch, changed to run for one copy only.
static hfta_launch launchOfCopy(int copy, hfta_launch launch) {
  launch.per_copy = 0;
  launch.copy = copy;
  return launch;
}

static void addItem(void *const *buffers, int64_t item, void *scratch) {
  const int *shared = static_cast<const int *>(buffers[0]);
  int *own = static_cast<int *>(buffers[1]);
  *static_cast<int *>(scratch) = *shared + static_cast<int>(item);
  own[item] += *static_cast<int *>(scratch);
}

static void doubleItem(void *const *buffers, int64_t item, void *) {
  static_cast<int *>(buffers[0])[item] *= 2;
}

/// Writes the product of two small numbers, which is denormal.
static void multiplySmall(void *const *buffers, int64_t item, void *) {
  volatile float small = 1e-20F;
  static_cast<float *>(buffers[0])[item] = small * small;
}

TEST(Launch, BindsEachCopysBuffers) {
  const int copies = 5, items = 7;
  const hfta_binding bindings[] = {bindTo(0, 0, 8, 0), bindTo(1, 0, 12, 64)};
  hfta_launch launch = launchOf(addItem, bindings, 2, items);
  for (int threads : {1, 2, 3}) {
    int shared[4] = {0, 0, 100, 0};
    std::vector<int> own(copies * 16 + 3);
    ASSERT_EQ(Task({launch}, shared, own.data(), threads).run({0, 1, 2, 3, 4}),
              HFTA_OK);
    for (int copy = 0; copy < copies; ++copy)
      for (int item = 0; item < items; ++item)
        EXPECT_EQ(own[3 + copy * 16 + item], 100 + item);
    launch.per_copy = 0;
    ASSERT_EQ(Task({launch}, shared, own.data(), threads).run({0, 1, 2, 3, 4}),
              HFTA_OK);
    launch.per_copy = 1;
    EXPECT_EQ(own[3], 200);
    EXPECT_EQ(own[3 + 16], 100);
  }
}

// A launch for some copies skips the others, and finds their values in segments
// that hold no others. Joined launches do so, too, for more copies than
// threads.
TEST(Launch, RunsForSomeCopies) {
  const int items = 7;
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(1, 0, 0, 64)};
  const int32_t runs[] = {-1, 0, -1, 1, 2, -1}, holds[] = {0, 1, -1, 2, 3, -1};
  std::vector<hfta_launch> launches = {
      launchOf(addItem, bindings, 2, items),
      launchOf(doubleItem, bindings + 1, 1, items)};
  launches[1].joins = 1;
  for (hfta_launch &launch : launches)
    launch.places = runs;
  for (int threads : {1, 2, 3}) {
    int shared = 1;
    std::vector<int> own(4 * 16);
    Task task(launches, &shared, own.data(), threads);
    task.setPlaces(holds);
    ASSERT_EQ(task.run({0, 1, 3, 4, 5}), HFTA_OK);
    for (int item = 0; item < items; ++item) {
      EXPECT_EQ(own[item], 0);
      for (int place : {1, 2, 3})
        EXPECT_EQ(own[place * 16 + item], 2 * (1 + item));
    }
    ASSERT_EQ(task.run({2, 3}), HFTA_OK);
    EXPECT_EQ(own[16], 2);
    EXPECT_EQ(own[32], 6);
  }
}

// Each thread computes whole copies; threads share the items of the copies that
// are left. For each copy, kernels run in order.
TEST(Launch, RunsSeveralKernelsForEachCopy) {
  const int copies = 5, items = 7;
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(1, 0, 0, 64)};
  std::vector<hfta_launch> launches = {
      launchOf(addItem, bindings, 2, items),
      launchOf(doubleItem, bindings + 1, 1, items),
      launchOf(addItem, bindings, 2, 0), launchOf(addItem, bindings, 2, items)};
  for (size_t i = 1; i < launches.size(); ++i)
    launches[i].joins = 1;
  for (int threads : {1, 2, 3, 8}) {
    int shared = 3;
    std::vector<int> own(copies * 16);
    ASSERT_EQ(Task(launches, &shared, own.data(), threads).run({0, 1, 2, 3, 4}),
              HFTA_OK);
    for (int copy = 0; copy < copies; ++copy)
      for (int item = 0; item < items; ++item)
        EXPECT_EQ(own[copy * 16 + item], 3 * (3 + item));
  }
}

TEST(Launch, RunsForASetOfCopies) {
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(1, 0, 0, 4)};
  hfta_launch first = launchOf(addItem, bindings, 2, 1), second = first;
  second.joins = 1;
  for (int threads : {1, 2, 3}) {
    int shared = 1, own[6] = {};
    ASSERT_EQ(Task({first, second}, &shared, own, threads).run({1, 2, 5}),
              HFTA_OK);
    EXPECT_EQ(std::vector<int>(own, own + 6),
              std::vector<int>({0, 2, 2, 0, 0, 2}));
  }
}

TEST(Launch, ACopysOwnRunsWithIt) {
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(1, 0, 0, 4)};
  hfta_launch launch = launchOf(addItem, bindings, 2, 1);
  int shared = 1, own[4] = {};
  Task task({launchOfCopy(1, launch), launchOfCopy(3, launch)}, &shared, own);
  ASSERT_EQ(task.run({0, 3}), HFTA_OK);
  EXPECT_EQ(std::vector<int>(own, own + 4), std::vector<int>({0, 0, 0, 1}));
  ASSERT_EQ(task.run({1}), HFTA_OK);
  EXPECT_EQ(std::vector<int>(own, own + 4), std::vector<int>({0, 1, 0, 1}));
}

// The copies of a turn use the first slabs, in order, unless the segment keeps
// a slab for each copy.
TEST(Launch, CountsSlabsByTurnOrByCopy) {
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(1, 1, 0, 4)};
  hfta_launch launch = launchOf(addItem, bindings, 2, 1);
  int shared = 1, own[4] = {};
  Task task({launch, launchOfCopy(3, launch)}, &shared, own);
  ASSERT_EQ(task.run({1, 3}), HFTA_OK);
  EXPECT_EQ(std::vector<int>(own, own + 4), std::vector<int>({1, 2, 0, 0}));
  task.keepSlabs();
  ASSERT_EQ(task.run({1, 3}), HFTA_OK);
  EXPECT_EQ(std::vector<int>(own, own + 4), std::vector<int>({1, 3, 0, 2}));
}

/// Doubles four items at once: each lane reads an item of its first buffer and
/// writes the result to its second one.
static void setFour(void *const *buffers, const int64_t *items, void *) {
  int results[4];
  for (int lane = 0; lane < 4; ++lane)
    results[lane] =
        2 * static_cast<const int *>(buffers[2 * lane])[items[lane]];
  for (int lane = 0; lane < 4; ++lane)
    static_cast<int *>(buffers[2 * lane + 1])[items[lane]] = results[lane];
}

/// Makes a launch of `setFour` with the given number of items per copy.
static hfta_launch launchOfFour(const hfta_binding *bindings, int64_t items) {
  auto any = reinterpret_cast<void (*)()>(setFour);
  hfta_launch launch =
      launchOf(reinterpret_cast<hfta_kernel>(any), bindings, 2, items);
  launch.lanes = 4;
  return launch;
}

// The four lanes hold items of several copies. If the number of items isn't a
// multiple of four, several lanes hold the last item.
TEST(Launch, FillsLanesWithItemsOfAllCopies) {
  const hfta_binding bindings[] = {bindTo(1, 0, 0, 24), bindTo(1, 0, 12, 24)};
  hfta_launch launch = launchOfFour(bindings, 3);
  for (int threads : {1, 2, 3}) {
    std::vector<int> own(36);
    for (int i = 0; i < 36; ++i)
      own[i] = i;
    ASSERT_EQ(Task({launch}, nullptr, own.data(), threads).run({0, 1, 2, 5}),
              HFTA_OK);
    for (int copy = 0; copy < 6; ++copy)
      for (int item = 0; item < 3; ++item) {
        bool isRun = copy < 3 || copy == 5;
        int first = copy * 6 + item;
        EXPECT_EQ(own[first + 3], isRun ? 2 * first : first + 3);
      }
    launch.per_copy = 0;
    own[0] = 50;
    ASSERT_EQ(Task({launch}, nullptr, own.data(), threads).run({0, 1}),
              HFTA_OK);
    EXPECT_EQ(own[3], 100);
    launch.per_copy = 1;
  }
}

// Kernels before and after one with lanes run for all copies one after another,
// even if they could be joined to run copy by copy.
TEST(Launch, JoinsNoKernelWithLanes) {
  const hfta_binding bindings[] = {bindTo(1, 0, 0, 16), bindTo(1, 0, 8, 16)};
  std::vector<hfta_launch> launches = {
      launchOf(doubleItem, bindings, 1, 2), launchOfFour(bindings, 2),
      launchOf(doubleItem, bindings + 1, 1, 2)};
  launches[1].joins = launches[2].joins = 1;
  for (int threads : {1, 2}) {
    std::vector<int> own(20, 1);
    ASSERT_EQ(Task(launches, nullptr, own.data(), threads).run({0, 1, 2, 3, 4}),
              HFTA_OK);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(own[i], i % 4 < 2 ? 2 : 8) << i;
  }
}

// Each thread flushes denormals while it runs a task with this flag, and only
// then; so do threads that run several launches for a copy.
TEST(Launch, FlushesDenormals) {
  const int items = 7;
  const hfta_binding bindings[] = {bindTo(1, 0, 0, 4 * items)};
  std::vector<hfta_launch> launches(
      2, launchOf(multiplySmall, bindings, 1, items));
  for (uint32_t joins : {0, 1}) {
    launches[1].joins = joins;
    for (int threads : {1, 2, 3}) {
      std::vector<float> own(4 * items, -1);
      Task task(launches, nullptr, own.data(), threads);
      for (uint32_t flags : {0U, HFTA_TASK_FLUSHES_DENORMALS, 0U}) {
        task.setFlags(flags);
        ASSERT_EQ(task.run({0, 1, 2, 3}), HFTA_OK);
        for (float number : own)
          EXPECT_EQ(number == 0, flags != 0);
      }
    }
  }
}

TEST(Launch, RefusesMoreLanesThanBuffers) {
  const hfta_binding bindings[] = {bindTo(0, 0, 0, 0), bindTo(0, 0, 0, 0)};
  hfta_launch launch = launchOfFour(bindings, 1);
  launch.lanes = HFTA_MAX_BINDINGS / 2 + 1;
  hfta_error error;
  int shared = 0;
  EXPECT_EQ(Task({launch}, &shared, &shared).run({0}, &error), HFTA_INTERNAL);
}

TEST(Launch, RefusesKernelsThatNeedMoreScratch) {
  hfta_launch launch = launchOf(addItem, nullptr, 0, 1);
  launch.scratch_bytes = 65;
  launch.name = "greedy";
  hfta_error error = {};
  EXPECT_EQ(Task({launch}, nullptr, nullptr).run({0}, &error), HFTA_INTERNAL);
  EXPECT_STREQ(error.message,
               "task 'task': kernel 'greedy' asks for more scratch or buffers "
               "than the program declares");
}

TEST(Launch, TimesEachLaunch) {
  const hfta_binding bindings[] = {bindTo(1, 0, 0, 64)};
  hfta_launch first = launchOf(doubleItem, bindings, 1, 4);
  hfta_launch second = first, third = first;
  second.joins = 1;
  double wall[3] = {}, busy[2][3] = {}, warm[3] = {}, cold[3] = {};
  std::vector<char> evicting(1 << 16);
  hfta_launch_times times = {};
  times.wall = wall;
  times.busy = busy[0];
  times.evicting = evicting.data();
  times.evicting_bytes = evicting.size();
  std::vector<int> own(16 * 5, 1);
  Task task({first, second, third}, nullptr, own.data());
  task.time(&times);
  ASSERT_EQ(task.run({0, 1, 2, 3, 4}), HFTA_OK);
  EXPECT_EQ(own[64], 8);
  // The second launch is in the group of the first one.
  EXPECT_GT(wall[0], 0);
  EXPECT_EQ(wall[1], 0);
  EXPECT_GT(wall[2], 0);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_GT(busy[0][launch] + busy[1][launch], 0) << launch;
    EXPECT_LE(busy[0][launch], wall[launch < 2 ? 0 : 2]) << launch;
  }
  // Alone, each launch runs twice more, and the sums stay as they are.
  const double wallBefore = wall[0], busyBefore = busy[0][0];
  times.warm = warm;
  times.cold = cold;
  ASSERT_EQ(task.run({0, 1, 2, 3, 4}), HFTA_OK);
  EXPECT_EQ(own[64], 8 << 9);
  EXPECT_EQ(wall[0], wallBefore);
  EXPECT_EQ(busy[0][0], busyBefore);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_GT(warm[launch], 0) << launch;
    EXPECT_GT(cold[launch], 0) << launch;
  }
}
