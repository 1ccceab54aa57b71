//===- GpuCallsTest.cpp - Host functions that streams call ---------------===//

extern "C" {
#include "device/gpu/gpu_calls.h"
}

#include "gtest/gtest.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

/// The host functions that streams were given. The tests call them in place of
/// a driver.
std::vector<std::pair<void (*)(void *), void *>> given;

class GpuCalls : public testing::Test {
protected:
  GpuCalls() {
    given.clear();
    driver.stream_call = [](hfta_gpu *, hfta_gpu_stream,
                            void (*function)(void *), void *argument) {
      given.emplace_back(function, argument);
      return hfta_gpu_success;
    };
    hfta_gpu_calls_open(&calls);
  }
  ~GpuCalls() override { hfta_gpu_calls_close(&calls); }

  /// Gives a call that fails with a message of 900 times this letter, or one
  /// that succeeds if it is 0.
  void give(char letter) {
    hfta_host_call call = {};
    call.argument = reinterpret_cast<void *>(static_cast<uintptr_t>(letter));
    call.function = [](void *argument, hfta_error *error) {
      char letter = static_cast<char>(reinterpret_cast<uintptr_t>(argument));
      return letter ? hfta_fail(error, HFTA_LOST, "%s",
                                std::string(900, letter).c_str())
                    : HFTA_OK;
    };
    EXPECT_EQ(hfta_gpu_calls_give(&calls, &gpu, nullptr, &call).code, 0);
  }
  static void make(size_t number) { given[number].first(given[number].second); }
  /// Takes the first error among the calls with numbers below `end`. Returns
  /// the first letter of its message; 0 if there is no error.
  char takeError(uint64_t end) {
    hfta_error error = {};
    hfta_status status = hfta_gpu_calls_take_error(&calls, end, &error);
    EXPECT_EQ(status, error.code);
    if (status == HFTA_OK)
      return 0;
    EXPECT_EQ(std::string(error.message), std::string(900, error.message[0]));
    return error.message[0];
  }

  hfta_gpu_driver driver = {};
  hfta_gpu gpu = {&driver, "gpu"};
  hfta_gpu_calls calls = {};
};

TEST_F(GpuCalls, TheFirstErrorIsTaken) {
  for (char letter : {'a', 'b', '\0', 'd'})
    give(letter);
  make(2);
  EXPECT_EQ(takeError(UINT64_MAX), 0);
  make(1);
  make(0);
  make(3);
  EXPECT_EQ(takeError(UINT64_MAX), 'b');
  EXPECT_EQ(takeError(UINT64_MAX), 0);
}

TEST_F(GpuCalls, ErrorsBehindAMarkWait) {
  for (char letter : {'\0', 'b', 'c'})
    give(letter);
  make(0);
  make(1);
  EXPECT_EQ(takeError(1), 0);
  hfta_gpu_calls_forget(&calls, 1);
  EXPECT_EQ(takeError(2), 'b');
  hfta_gpu_calls_forget(&calls, 2);
  make(2);
  EXPECT_EQ(takeError(2), 0);
  EXPECT_EQ(takeError(3), 'c');
}

/// If two calls fail at the same time, one of the two messages is kept, and it
/// isn't mixed with the other one.
TEST_F(GpuCalls, StreamsMayFailAtTheSameTime) {
  give('a');
  give('b');
  constexpr int kRounds = 20000;
  std::atomic<int> arrived{0};
  auto run = [&](size_t number) {
    for (int i = 1; i <= kRounds; ++i) {
      ++arrived;
      while (arrived < 4 * i - 2)
        ;
      make(number);
      ++arrived;
      while (arrived < 4 * i)
        ;
      if (number == 0)
        EXPECT_NE(takeError(UINT64_MAX), 0);
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

} // namespace
