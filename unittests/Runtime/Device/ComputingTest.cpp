//===- ComputingTest.cpp - Whether the process computes -------------------===//

extern "C" {
#include "system/computing.h"
}

#include "hfta/device.h"

#include "gtest/gtest.h"

namespace {
void count(void *calls) { ++*static_cast<int *>(calls); }

TEST(Computing, TellsWhenTheLastEnds) {
  int calls = 0;
  hfta_computing_listen(count, &calls);
  EXPECT_FALSE(hfta_is_computing());
  hfta_computing_begin();
  hfta_computing_begin();
  hfta_computing_end();
  EXPECT_TRUE(hfta_is_computing());
  EXPECT_EQ(calls, 0);
  hfta_computing_end();
  EXPECT_FALSE(hfta_is_computing());
  EXPECT_EQ(calls, 1);
  hfta_computing_listen(nullptr, nullptr);
  hfta_computing_begin();
  hfta_computing_end();
  EXPECT_EQ(calls, 1);
}

/// The process doesn't count as computing while any thread waits, even if
/// others compute.
TEST(Computing, CountsForNothingWhereSomeThreadWaits) {
  int calls = 0;
  hfta_computing_listen(count, &calls);
  hfta_computing_begin();
  hfta_waiting_begin();
  EXPECT_FALSE(hfta_is_computing());
  EXPECT_EQ(calls, 1);
  hfta_waiting_end();
  EXPECT_TRUE(hfta_is_computing());
  hfta_computing_end();
  EXPECT_EQ(calls, 2);
  hfta_computing_listen(nullptr, nullptr);
}

hfta_device *openDevice() {
  hfta_device_options options = {};
  options.threads = 1;
  options.queues = 2;
  options.events = 2;
  hfta_device *device = nullptr;
  EXPECT_EQ(hfta_device_open("cpu", &options, &device, nullptr), HFTA_OK);
  return device;
}

/// The queue gets more work than it holds at once, and executes some of it
/// meanwhile.
TEST(Computing, LastsWhileWorkIsGiven) {
  hfta_device *device = openDevice();
  int calls = 0, from = 1, to = 0;
  hfta_computing_listen(count, &calls);
  for (int i = 0; i < 200; ++i)
    device->functions->copy(device, 0, &to, &from, sizeof(to));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(device->functions->wait(device, nullptr), HFTA_OK);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(device->functions->wait(device, nullptr), HFTA_OK);
  EXPECT_EQ(calls, 1);
  device->functions->copy(device, 0, &to, &from, sizeof(to));
  hfta_computing_listen(nullptr, nullptr);
  hfta_device_close(device);
  EXPECT_FALSE(hfta_is_computing());
}

hfta_status noteInCall(void *computes, hfta_error *) {
  *static_cast<bool *>(computes) = hfta_is_computing();
  return HFTA_OK;
}

/// Queue 0 counts as computing, except while it waits for another queue.
TEST(Computing, EndsWhereTheFirstQueueWaits) {
  hfta_device *device = openDevice();
  int calls = 0;
  hfta_computing_listen(count, &calls);
  bool before = false;
  hfta_host_call own = {noteInCall, &before, nullptr};
  // The other queue's call returns only when queue 0 waits.
  auto awaitQuiet = [](void *, hfta_error *) {
    while (hfta_is_computing())
      ;
    return HFTA_OK;
  };
  hfta_host_call other = {awaitQuiet, nullptr, nullptr};
  const hfta_device_functions *functions = device->functions;
  functions->call(device, 0, &own);
  functions->record(device, 0, 0);
  functions->await(device, 1, 0);
  functions->call(device, 1, &other);
  functions->record(device, 1, 1);
  functions->await(device, 0, 1);
  EXPECT_EQ(functions->wait(device, nullptr), HFTA_OK);
  EXPECT_TRUE(before);
  // The listener is called when queue 0 begins to wait, and at the end.
  EXPECT_GE(calls, 2);
  EXPECT_FALSE(hfta_is_computing());
  hfta_computing_listen(nullptr, nullptr);
  hfta_device_close(device);
}
} // namespace
