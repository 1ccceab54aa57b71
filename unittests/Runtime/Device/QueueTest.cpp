//===- QueueTest.cpp - The CPU's queues and events ------------------------===//

#include "hfta/device.h"

#include "gtest/gtest.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {
/// A device with three queues, 0 to 2, and four events.
class Device {
public:
  explicit Device(const char *kind, hfta_device *beside = nullptr) {
    hfta_device_options options = {};
    options.beside = beside;
    options.threads = 2;
    options.scratch_bytes = 64;
    options.queues = 3;
    options.events = 4;
    options.segments = 1;
    options.copies = 2;
    EXPECT_EQ(hfta_device_open(kind, &options, &device, nullptr), HFTA_OK);
  }
  ~Device() { hfta_device_close(device); }

  template <typename T>
  void copy(uint32_t queue, T &to, const T &from) {
    device->functions->copy(device, queue, &to, &from, sizeof(T));
  }
  void record(uint32_t queue, uint32_t event) {
    device->functions->record(device, queue, event);
  }
  void await(uint32_t queue, uint32_t event) {
    device->functions->await(device, queue, event);
  }
  void run(uint32_t queue, const hfta_task &task, void *segment = nullptr) {
    void *segments[] = {segment};
    const int32_t copies[] = {0};
    hfta_task_call call = {&task, segments, keeps,   copies, nullptr,
                           1,     -1,       nullptr, nullptr};
    device->functions->run(device, queue, &call, 7);
  }
  hfta_status wait(hfta_error *error = nullptr) {
    return device->functions->wait(device, error);
  }

  hfta_device *device = nullptr;

private:
  const bool keeps[1] = {false};
};

/// Tests that run on each device. Shuffled devices run work in any order that
/// events allow.
class Queue : public testing::TestWithParam<const char *> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, Queue,
                         testing::Values("cpu", "shuffled:0", "shuffled:1",
                                         "shuffled:2", "shuffled:3"));

TEST_P(Queue, WorkOfAQueueIsDoneInOrder) {
  for (uint32_t queue : {0, 1}) {
    Device device(GetParam());
    // This is more work than a queue holds at once.
    std::vector<int> values(1000);
    values[0] = 42;
    for (size_t i = 1; i < values.size(); ++i)
      device.copy(queue, values[i], values[i - 1]);
    ASSERT_EQ(device.wait(), HFTA_OK);
    EXPECT_EQ(values.back(), 42);
  }
}

TEST_P(Queue, EventsOrderQueues) {
  for (int round = 0; round < 50; ++round) {
    Device device(GetParam());
    int value = 0;
    const int numbers[] = {1, 2, 3, 4};
    int seen[4] = {};
    for (int i = 0; i < 4; ++i) {
      device.copy(1, value, numbers[i]);
      device.record(1, 0);
      device.await(i % 2 ? 2 : 0, 0);
      device.copy(i % 2 ? 2 : 0, seen[i], value);
      device.record(i % 2 ? 2 : 0, 1);
      device.await(1, 1);
    }
    ASSERT_EQ(device.wait(), HFTA_OK);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(seen[i], numbers[i]);
  }
}

TEST(CpuQueue, WaitsForSomeQueuesAlone) {
  Device device("cpu");
  std::atomic<bool> mayGo = false, hasGone = false;
  std::atomic<bool> *flags[] = {&mayGo, &hasGone};
  auto linger = [](void *argument, hfta_error *) {
    auto *flags = static_cast<std::atomic<bool> **>(argument);
    while (!*flags[0])
      std::this_thread::yield();
    *flags[1] = true;
    return HFTA_OK;
  };
  hfta_host_call call = {linger, flags, nullptr};
  device.device->functions->call(device.device, 1, &call);
  int value = 0, other = 0;
  const int one = 1;
  device.copy(0, value, one);
  device.copy(2, other, one);
  ASSERT_EQ(device.device->functions->wait_for(device.device, ~uint64_t(1 << 1),
                                               nullptr),
            HFTA_OK);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(other, 1);
  EXPECT_FALSE(hasGone);
  mayGo = true;
  ASSERT_EQ(device.wait(), HFTA_OK);
  EXPECT_TRUE(hasGone);
}

/// A task that notes its number and then runs until `mayGo` is set.
struct Turn {
  static void run(void *const *buffers, int64_t, void *) {
    auto *self = static_cast<Turn *>(buffers[0]);
    std::lock_guard<std::mutex> guard(self->all->mutex);
    self->all->order.push_back(self->number);
    while (!self->all->mayGo)
      std::this_thread::yield();
  }
  struct All {
    std::mutex mutex;
    std::vector<int> order;
    std::atomic<bool> mayGo = false;
  };
  All *all;
  int number;
};

static void runTurn(Device &device, Turn &turn) {
  const hfta_binding binding = {};
  hfta_launch launch = {};
  launch.kernel = Turn::run;
  launch.bindings = &binding;
  launch.binding_count = 1;
  launch.items = 1;
  launch.copy = -1;
  hfta_task task = {};
  task.launches = &launch;
  task.launch_count = 1;
  device.run(0, task, &turn);
  EXPECT_EQ(device.wait(), HFTA_OK);
}

TEST(CpuQueue, TasksOfTheFirstDeviceGoFirst) {
  for (int first : {1, 2}) {
    Device seat("cpu");
    Device devices[] = {Device("cpu", seat.device), Device("cpu"),
                        Device("cpu", seat.device)};
    // The second device starts with threads of its own, and gets the seat's
    // threads here.
    const hfta_device_functions *functions = seat.device->functions;
    functions->use_threads(devices[1].device, seat.device);
    functions->go_first(devices[first].device);
    Turn::All all;
    Turn turns[] = {{&all, 0}, {&all, 1}, {&all, 2}};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] { runTurn(devices[i], turns[i]); });
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    all.mayGo = true;
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(all.order, std::vector<int>({0, first, 3 - first}));
  }
}

// Shuffled devices reveal missing events. So trainings on them test whether a
// schedule has enough events.
TEST(ShuffledQueue, ShowsMissingEvents) {
  const int one = 1, two = 2;
  bool seen[3] = {};
  for (const char *kind : {"shuffled:0", "shuffled:1", "shuffled:2",
                           "shuffled:3", "shuffled:4", "shuffled:5"}) {
    Device device(kind);
    int value = 0, read = 0;
    device.copy(1, value, one);
    device.copy(0, read, value);
    device.copy(2, value, two);
    ASSERT_EQ(device.wait(), HFTA_OK);
    seen[read] = true;
  }
  EXPECT_TRUE(seen[0]); // queue 0 ran first
  EXPECT_TRUE(seen[1]);
  EXPECT_TRUE(seen[2]);
}

// A queue doesn't wait for an event that hasn't been recorded yet.
TEST_P(Queue, AwaitsTheLastRecordOnly) {
  Device device(GetParam());
  int value = 0;
  const int one = 1;
  device.await(1, 2);
  device.copy(1, value, one);
  device.record(0, 2);
  ASSERT_EQ(device.wait(), HFTA_OK);
  EXPECT_EQ(value, 1);
}

// A full queue may be waiting for an event that the host records only later, so
// the host must not wait for the queue.
TEST_P(Queue, AFullQueueDoesNotStopTheHost) {
  Device device(GetParam());
  std::vector<int> values(500);
  values[0] = 7;
  int first = 0;
  device.copy(0, first, values[0]);
  device.record(0, 3);
  device.await(1, 3);
  for (size_t i = 1; i < values.size(); ++i)
    device.copy(1, values[i], i == 1 ? first : values[i - 1]);
  ASSERT_EQ(device.wait(), HFTA_OK);
  EXPECT_EQ(values.back(), 7);
}

static std::atomic<int> runs;

static void countRun(void *const *, int64_t, void *) { ++runs; }

static void noteActivity(void *argument, const hfta_activity *activity) {
  EXPECT_GE(activity->end, activity->begin);
  auto *seen = static_cast<std::vector<hfta_activity> *>(argument);
  // All earlier activities of this queue have ended.
  for (const hfta_activity &earlier : *seen)
    if (earlier.queue == activity->queue)
      EXPECT_LE(earlier.end, activity->begin);
  seen->push_back(*activity);
}

TEST_P(Queue, TellsWhatItRan) {
  hfta_launch launch = {};
  launch.kernel = countRun;
  launch.items = 3;
  launch.copy = -1;
  hfta_task task = {};
  task.launches = &launch;
  task.launch_count = 1;
  runs = 0;
  Device device(GetParam());
  std::vector<hfta_activity> seen;
  hfta_observer observer = {noteActivity, &seen, nullptr};
  device.device->functions->observe(device.device, &observer);
  device.run(0, task);
  device.run(1, task);
  ASSERT_EQ(device.wait(), HFTA_OK);
  EXPECT_EQ(runs, 6);
  std::vector<int64_t> ran;
  for (const hfta_activity &activity : seen)
    if (activity.kind == HFTA_ACTIVITY_RUN)
      ran.push_back(activity.number);
  EXPECT_EQ(ran, std::vector<int64_t>({7, 7}));
}

TEST_P(Queue, ErrorsSurfaceAtTheNextWait) {
  hfta_launch launch = {};
  launch.kernel = countRun;
  launch.name = "greedy";
  launch.scratch_bytes = 1000;
  hfta_task task = {};
  task.name = "update.0";
  task.launches = &launch;
  task.launch_count = 1;
  for (uint32_t queue : {0, 2}) {
    Device device(GetParam());
    device.run(queue, task);
    hfta_error error = {};
    EXPECT_EQ(device.wait(&error), HFTA_INTERNAL);
    EXPECT_STREQ(error.message,
                 "task 'update.0': kernel 'greedy' asks for more scratch or "
                 "buffers than the program declares");
    EXPECT_EQ(device.wait(&error), HFTA_OK);
  }
}
