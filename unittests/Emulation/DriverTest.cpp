//===- DriverTest.cpp - The emulated driver, used by the runtime ----------===//
//
// The tests launch the kernels of FakeImage.cpp through the runtime's device
// for GPUs, as compiled programs do.
//===----------------------------------------------------------------------===//

extern "C" {
#include "device/cuda/cuda_images.h"
#include "device/cuda/cuda_maps.h"
#include "device/gpu/gpu_launch.h"
}
#include "hfta/device.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr unsigned kCopies = 3, kRow = 32;
constexpr uint64_t kRowBytes = kRow * sizeof(uint16_t);
constexpr hfta_cu_result kInvalidValue = 1, kLaunchFailed = 719;

/// Tests of invalid environment variables, which the emulated driver refuses at
/// its first call.
class EmulatedSettings : public testing::Test {
protected:
  /// Checks that the driver ends the process with a message if the variable
  /// `name` has this value.
  void expectRefusal(const char *name, const char *value,
                     const std::string &expected) {
    // The driver reads its settings once per process, so each check runs in a
    // new process.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto start = [=] {
      setenv(name, value, 1);
      hfta_error error = {};
      const hfta_cuda *cuda = nullptr;
      if (dlopen(HFTA_EMULATED_DRIVER, RTLD_NOW) &&
          hfta_cuda_load(&cuda, &error) == HFTA_OK)
        cuda->init(0);
      std::exit(0);
    };
    EXPECT_EXIT(start(), testing::ExitedWithCode(2),
                "emulated driver: " + std::string(name) + "='" + value +
                    "': expected " + expected);
  }
};

TEST_F(EmulatedSettings, FaultsAreListed) {
  const std::string expected =
      "FAULT:N, as in barrier:1; there are barrier, wait, edge, bounds, copy, "
      "clear, host, async and products";
  expectRefusal("HFTA_EMULATION_FAULT", "fire:1", expected);
  expectRefusal("HFTA_EMULATION_FAULT", "products", expected);
}

TEST_F(EmulatedSettings, SeedsAreNumbers) {
  expectRefusal("HFTA_EMULATION_SEED", "five", "a whole number");
  expectRefusal("HFTA_EMULATION_SEED", "5x", "a whole number");
  expectRefusal("HFTA_EMULATION_SEED", "", "a whole number");
}

/// A program with one kernel, `copies` of FakeImage.cpp. For each copy (of the
/// job), the kernel copies a row of numbers; the copies have their own source
/// rows or share one.
class EmulatedDriver : public testing::Test {
protected:
  void SetUp() override {
    // The driver reads the variable at its first call: the features of sm_90a,
    // and 1000000 bytes of memory.
    setenv("HFTA_EMULATION_DEVICE", "sm_90a:1000000", 1);
    ASSERT_TRUE(dlopen(HFTA_EMULATED_DRIVER, RTLD_NOW));
    hfta_error error = {};
    ASSERT_EQ(hfta_cuda_load(&cuda, &error), HFTA_OK) << error.message;
    ASSERT_EQ(hfta_cuda_take_gpu(cuda, &hfta_cuda_functions, 0, &gpu, &error),
              HFTA_OK);
    ASSERT_EQ(cuda->context_set(gpu.context), 0);
    ASSERT_EQ(cuda->stream_create(&stream, HFTA_CU_STREAM_NON_BLOCKING), 0);
    ASSERT_EQ(cuda->memory_allocate(&memory, 4096), 0);
    std::ifstream file(HFTA_FAKE_IMAGE, std::ios::binary);
    data.assign(std::istreambuf_iterator<char>(file), {});
    image = {data.data(), data.size(), "sm_90a", HFTA_IMAGE_EMULATED, 1};
    bindings[0] = {0, 0, 0, kRowBytes, kRowBytes, HFTA_ACCESS_WRITE, 0};
    bindings[1] = {0, 0, 2048, kRowBytes, kRowBytes, HFTA_ACCESS_READ, 0};
    launch.name = launch.symbol = "copies";
    launch.bindings = bindings;
    launch.binding_count = 2;
    launch.per_copy = 1;
    launch.items = launch.block_threads = 1;
    launch.warp_groups = &groups;
    task.name = "task";
    task.launches = &launch;
    task.launch_count = 1;
    program.tasks = &task;
    program.task_count = program.segment_count = 1;
    program.copies = kCopies;
    program.target = "cuda";
    program.images = &table;
  }
  void TearDown() override {
    hfta_cuda_images_unload(&images);
    cuda->memory_free(memory);
    cuda->stream_destroy(stream);
  }

  /// Loads the image into the launcher.
  hfta_status load() {
    launcher.gpu = &gpu.base;
    launcher.code = reinterpret_cast<hfta_gpu_code *>(&images);
    launcher.parameters = parameters;
    launcher.places = places;
    hfta_error error = {};
    return hfta_cuda_images_load(&gpu, &program, &images, &error);
  }

  /// Launches the program's task for all copies. Returns the driver's result;
  /// after an error, `result` names the call of the driver.
  hfta_cu_result run() {
    void *segments[] = {reinterpret_cast<void *>(memory)};
    const bool keeps[] = {true};
    hfta_task_call call = {&task,   segments, keeps,   nullptr, nullptr,
                           kCopies, 0,        nullptr, nullptr};
    result =
        hfta_gpu_launch(&launcher, reinterpret_cast<hfta_gpu_stream>(stream),
                        &call, 0, &failed);
    return result.code;
  }

  /// Enqueues a copy of `numbers` to the source rows.
  void write(std::vector<uint16_t> &numbers) {
    ASSERT_EQ(cuda->memory_copy(memory + 2048,
                                reinterpret_cast<uint64_t>(numbers.data()),
                                numbers.size() * sizeof(uint16_t), stream),
              0);
  }
  /// Waits for the stream, and returns the rows that the kernel wrote.
  std::vector<uint16_t> read() {
    std::vector<uint16_t> numbers(kCopies * kRow);
    EXPECT_EQ(cuda->memory_copy(reinterpret_cast<uint64_t>(numbers.data()),
                                memory, numbers.size() * sizeof(uint16_t),
                                stream),
              0);
    EXPECT_EQ(cuda->stream_synchronize(stream), 0);
    return numbers;
  }

  const hfta_map_dimension row = {kRow, 2, kRow, 1};
  const hfta_tensor_map map = {1, 2, 1, 0, &row};
  hfta_warp_group_launch groups = {&map, 1, 64, 100 << 10, 0};
  const hfta_cuda *cuda = nullptr;
  hfta_cuda_gpu gpu = {};
  hfta_cu_stream stream = {};
  hfta_cu_address memory = 0;
  std::string data;
  hfta_image image = {};
  hfta_image_table table = {&image, 1};
  hfta_binding bindings[2] = {};
  hfta_launch launch = {};
  hfta_task task = {};
  hfta_program program = {};
  uint64_t parameters[HFTA_GPU_PARAMETERS] = {};
  void *places[HFTA_GPU_PARAMETERS] = {};
  hfta_cuda_images images = {};
  hfta_gpu_launcher launcher = {};
  hfta_gpu_result result = {};
  const hfta_launch *failed = nullptr;
};

TEST_F(EmulatedDriver, KernelsCopyByMaps) {
  ASSERT_EQ(load(), HFTA_OK);
  std::vector<uint16_t> numbers(kCopies * kRow);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<uint16_t>(i + 1);
  write(numbers);
  ASSERT_EQ(run(), 0);
  // The launch has copied its arguments, so overwriting their block doesn't
  // affect a kernel that runs later.
  std::memset(images.maps, 0, hfta_cuda_most_map_bytes(&program));
  EXPECT_EQ(read(), numbers);
  bindings[1].copy_stride = 0;
  ASSERT_EQ(run(), 0);
  std::vector<uint16_t> copies = read();
  for (size_t i = 0; i < copies.size(); ++i)
    ASSERT_EQ(copies[i], i % kRow + 1);
}

TEST_F(EmulatedDriver, SharedMemoryIsAllowedFirst) {
  ASSERT_EQ(load(), HFTA_OK);
  EXPECT_EQ(run(), 0);
  groups.shared_bytes += 1;
  EXPECT_EQ(run(), kInvalidValue);
  EXPECT_STREQ(result.call, "cuLaunchKernel");
  hfta_cu_function function = images.functions[0];
  auto allow = [&](int bytes) {
    return cuda->function_set(function, HFTA_CU_MAX_DYNAMIC_SHARED_BYTES,
                              bytes);
  };
  EXPECT_EQ(allow(-1), kInvalidValue);
  EXPECT_EQ(allow((227 << 10) + 1), kInvalidValue);
  EXPECT_EQ(cuda->function_set(function, 0, 0), kInvalidValue);
  EXPECT_EQ(allow(227 << 10), 0);
  EXPECT_EQ(run(), 0);
  // Setting the attribute to 0 leaves the 48 KiB that every kernel may use.
  EXPECT_EQ(allow(0), 0);
  EXPECT_EQ(run(), kInvalidValue);
  groups.shared_bytes = 48 << 10;
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(cuda->stream_synchronize(stream), 0);
}

TEST_F(EmulatedDriver, TooMuchSharedMemoryIsRefused) {
  groups.shared_bytes = 228 << 10;
  EXPECT_EQ(load(), HFTA_INTERNAL);
}

TEST_F(EmulatedDriver, UnsoundMapsAreRefused) {
  ASSERT_EQ(load(), HFTA_OK);
  bindings[1].offset += 8;
  EXPECT_EQ(run(), kInvalidValue);
  EXPECT_STREQ(result.call, "cuTensorMapEncodeTiled");
}

/// A device of the runtime with three queues, on the emulated driver.
class EmulatedDevice : public EmulatedDriver {
protected:
  void open() {
    hfta_device_options options = {};
    options.queues = 3;
    options.segments = 1;
    options.copies = kCopies;
    options.program = &program;
    ASSERT_EQ(hfta_device_open("cuda:0", &options, &device, &error), HFTA_OK)
        << error.message;
  }
  void TearDown() override {
    hfta_device_close(device);
    EmulatedDriver::TearDown();
  }
  /// Enqueues a host function, which fails with the message `text`, or succeeds
  /// if `text` is null.
  void call(uint32_t queue, const char *text) {
    hfta_host_call call = {};
    call.argument = const_cast<char *>(text);
    call.function = [](void *argument, hfta_error *error) {
      ++calls;
      return argument ? hfta_fail(error, HFTA_LOST, "%s",
                                  static_cast<const char *>(argument))
                      : HFTA_OK;
    };
    device->functions->call(device, queue, &call);
  }
  std::string messageOf(hfta_status status) const {
    return status == HFTA_OK ? "" : error.message;
  }
  /// Waits for the mark. Returns the error's message, or an empty text.
  std::string waitUntil(uint32_t mark) {
    return messageOf(device->functions->wait_until(device, mark, &error));
  }

  static int calls; ///< number of host functions that were called
  hfta_device *device = nullptr;
  hfta_error error = {};
};
int EmulatedDevice::calls = 0;

TEST_F(EmulatedDevice, CallsThatFailAreToldAtTheMarkBehindThem) {
  open();
  for (uint32_t queue : {1, 2}) {
    call(3 - queue, nullptr);
    call(queue, "the first");
    device->functions->mark(device, 0);
    call(3 - queue, "the second");
    device->functions->mark(device, 1);
    EXPECT_EQ(waitUntil(0), "the first");
    EXPECT_EQ(waitUntil(1), "the second");
    call(queue, nullptr);
    device->functions->mark(device, 0);
    EXPECT_EQ(waitUntil(0), "");
    EXPECT_EQ(messageOf(device->functions->wait(device, &error)), "");
  }
}

/// If a call before a mark has failed, waiting for the mark also waits for
/// later work. So the caller may free memory that the work uses.
TEST_F(EmulatedDevice, NothingGoesOnBehindACallThatHasFailed) {
  open();
  calls = 0;
  call(1, "the first");
  device->functions->mark(device, 0);
  call(2, nullptr);
  EXPECT_EQ(waitUntil(0), "the first");
  EXPECT_EQ(calls, 2);
}

TEST_F(EmulatedDevice, ADeviceEndsBehindWhatItWasGiven) {
  open();
  calls = 0;
  call(1, nullptr);
  call(2, "nobody asks");
  hfta_device_close(device);
  device = nullptr;
  EXPECT_EQ(calls, 2);
}

/// A wait that fails must still have waited for all queues, because its caller
/// frees memory that their work uses.
TEST_F(EmulatedDevice, AWaitThatFailsHasWaited) {
  open();
  calls = 0;
  call(1, nullptr);
  call(2, nullptr);
  auto *functions = const_cast<hfta_cuda *>(cuda);
  auto setContext = functions->context_set;
  functions->context_set = [](hfta_cu_context) { return kInvalidValue; };
  std::string message = messageOf(device->functions->wait(device, &error));
  functions->context_set = setContext;
  EXPECT_NE(message.find("cuCtxSetCurrent failed"), std::string::npos)
      << message;
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(messageOf(device->functions->wait(device, &error)), "");
}

/// The device's 1000000 bytes hold the scratch memory of two copies, but not of
/// three.
TEST_F(EmulatedDevice, ScratchMemoryIsThatOfTheCopiesThatGoAtOnce) {
  launch.scratch_bytes = 6000; // per thread; a block has 64
  open();
  auto reserve = [&](int64_t copies) {
    return messageOf(device->functions->reserve(device, copies, &error));
  };
  std::string message = reserve(3);
  EXPECT_EQ(message.substr(0, message.find(" more bytes")),
            "kernels' scratch memory: device 'cuda:0' ('emulated sm_90a') "
            "needs 1152000");
  EXPECT_EQ(reserve(2), "");
  EXPECT_EQ(reserve(1), "");
  EXPECT_NE(reserve(3), "");
  EXPECT_EQ(reserve(2), "");
}

class EmulatedDriverAtLast : public EmulatedDriver {};

/// This test is the last one, because after a failed kernel all calls of the
/// driver fail.
TEST_F(EmulatedDriverAtLast, CopiesThatNobodyWaitsForFail) {
  launch.symbol = "unfinished";
  ASSERT_EQ(load(), HFTA_OK);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(cuda->stream_synchronize(stream), kLaunchFailed);
}

} // namespace
