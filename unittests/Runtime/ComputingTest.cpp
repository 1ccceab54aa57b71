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

hfta_status noteInCall(void *computes, hfta_error *) {
  *static_cast<bool *>(computes) = hfta_is_computing();
  return HFTA_OK;
}

/// Queue 0 computes, but not while it waits for another queue.
TEST(Computing, EndsWhereTheFirstQueueWaits) {
  hfta_device_options options = {};
  options.threads = 1;
  options.queues = 2;
  options.events = 2;
  hfta_device *device = nullptr;
  ASSERT_EQ(hfta_device_open("cpu", &options, &device, nullptr), HFTA_OK);
  int calls = 0;
  hfta_computing_listen(count, &calls);
  bool before = false;
  hfta_host_call own = {noteInCall, &before, nullptr};
  // The other queue waits until the first one does.
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
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(hfta_is_computing());
  hfta_computing_listen(nullptr, nullptr);
  hfta_device_close(device);
}
} // namespace
