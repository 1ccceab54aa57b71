//===- CudaMapsTest.cpp - Tests of tensor maps for warp groups ------------===//
//
// Tensor maps describe operands that a GPU copies box by box. The tests run
// with a fake driver that only notes the calls that it gets.
//===----------------------------------------------------------------------===//

extern "C" {
#include "device/cuda/cuda_images.h"
#include "device/cuda/cuda_maps.h"
#include "device/gpu/gpu_launch.h"
}
#include "FakeProgram.h"
#include "RuntimeTest.h"
#include "workload/program_check.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr hfta_cu_result kFailure = 999;

//===----------------------------------------------------------------------===//
// A driver
//===----------------------------------------------------------------------===//

using Sizes = std::vector<uint64_t>;
using Counts = std::vector<uint32_t>;

/// The arguments with which a tensor map was encoded.
struct Encoded {
  int type, interleave, swizzle, promotion, fill;
  uint64_t address;
  Sizes sizes, strides;
  Counts box, steps;
};

struct Launched {
  unsigned gridX, gridZ, blockX, sharedBytes;
  size_t parameters;
  std::vector<char> maps;
};

struct Driver {
  std::vector<Encoded> encoded;
  std::vector<Launched> launched;
  std::vector<std::pair<int, int>> attributes;
  hfta_cu_result result = 0;    ///< the result of encoding a map
  hfta_cu_result setResult = 0; ///< the result of setting an attribute
  uint64_t mapBytes = 0;        ///< bytes of the maps that a launch gets
};

Driver driver;

hfta_cu_result encode(hfta_cu_tensor_map *map, int type, uint32_t rank,
                      void *address, const uint64_t *sizes,
                      const uint64_t *strides, const uint32_t *box,
                      const uint32_t *steps, int interleave, int swizzle,
                      int promotion, int fill) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % HFTA_MAP_ALIGNMENT, 0U);
  driver.encoded.push_back(
      {type, interleave, swizzle, promotion, fill,
       reinterpret_cast<uint64_t>(address), Sizes(sizes, sizes + rank),
       Sizes(strides, strides + rank - 1), Counts(box, box + rank),
       Counts(steps, steps + rank)});
  std::memset(map, static_cast<int>(driver.encoded.size()), sizeof(*map));
  return driver.result;
}

/// Notes a launch: its sizes, the number of its parameters, and the bytes of
/// the last parameter, which is the block of maps.
Launched noteLaunch(unsigned gridX, unsigned gridZ, unsigned blockX,
                    unsigned sharedBytes, void **parameters) {
  Launched own = {gridX, gridZ, blockX, sharedBytes, 0, {}};
  while (parameters[own.parameters])
    ++own.parameters;
  const auto *last = static_cast<const char *>(parameters[own.parameters - 1]);
  own.maps.assign(last, last + driver.mapBytes);
  return own;
}

hfta_cu_result launchKernel(hfta_cu_function, unsigned gridX, unsigned,
                            unsigned gridZ, unsigned blockX, unsigned, unsigned,
                            unsigned sharedBytes, hfta_cu_stream,
                            void **parameters, void **) {
  driver.launched.push_back(
      noteLaunch(gridX, gridZ, blockX, sharedBytes, parameters));
  return 0;
}

hfta_cu_result setAttribute(hfta_cu_function, int attribute, int value) {
  driver.attributes.emplace_back(attribute, value);
  return driver.setResult;
}

hfta_cu_result loadModule(hfta_cu_module *module, const void *) {
  *module = reinterpret_cast<hfta_cu_module>(8);
  return 0;
}
hfta_cu_result unloadModule(hfta_cu_module) { return 0; }
hfta_cu_result getFunction(hfta_cu_function *function, hfta_cu_module,
                           const char *) {
  *function = reinterpret_cast<hfta_cu_function>(8);
  return 0;
}
hfta_cu_result nameError(hfta_cu_result, const char **name) {
  *name = "NAME";
  return 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

constexpr unsigned kCopies = 3;

/// Tests of a program with one task of one kernel. Each copy has its own second
/// operand; all copies share the third one.
class CudaMaps : public testing::Test {
protected:
  CudaMaps() {
    driver = Driver();
    cuda.tensor_map_encode = encode;
    cuda.launch_kernel = launchKernel;
    cuda.function_set = setAttribute;
    cuda.module_load = loadModule;
    cuda.module_unload = unloadModule;
    cuda.module_function = getFunction;
    cuda.error_name = cuda.error_text = nameError;
    bindings[0] = {0, 0, 0, 256, 256, HFTA_ACCESS_WRITE, 0};
    bindings[1] = {0, 0, 1024, 4096, 4096, HFTA_ACCESS_READ, 0};
    bindings[2] = {0, 0, 65536, 0, 8192, HFTA_ACCESS_READ, 0};
    maps[0] = {1, 2, 2, 0, dimensions};
    maps[1] = {2, 4, 3, 0, shared};
    groups = {maps, 2, 384, 100000, 0};
    launch.name = "kernel";
    launch.symbol = "symbol";
    launch.bindings = bindings;
    launch.binding_count = 3;
    launch.per_copy = 1;
    launch.items = 130;
    launch.block_threads = 64;
    launch.warp_groups = &groups;
    task.name = "task";
    task.launches = &launch;
    task.launch_count = 1;
    program.name = "program";
    program.tasks = &task;
    program.task_count = program.segment_count = 1;
    program.copies = kCopies;
    program.images = &table;
    driver.mapBytes = hfta_cuda_most_map_bytes(&program);
  }

  /// Runs the task for all copies. Returns the driver's result.
  int run() {
    alignas(HFTA_MAP_ALIGNMENT) char block[1024];
    launcher.gpu = &gpu.base;
    launcher.code = reinterpret_cast<hfta_gpu_code *>(&loaded);
    loaded.gpu = &gpu;
    loaded.functions = &function;
    loaded.first = &first;
    loaded.maps = block;
    launcher.parameters = parameters;
    launcher.places = places;
    void *segments[] = {reinterpret_cast<void *>(uintptr_t(1) << 20)};
    const bool keeps[] = {true};
    hfta_task_call call = {&task,   segments, keeps,   nullptr, nullptr,
                           kCopies, 0,        nullptr, nullptr};
    result = hfta_gpu_launch(&launcher, nullptr, &call, 0, &failed);
    return result.code;
  }

  const hfta_map_dimension dimensions[2] = {{64, 2, 32, 1}, {32, 128, 8, 2}};
  const hfta_map_dimension shared[3] = {
      {32, 4, 32, 1}, {4, 160, 2, 1}, {3, 1024, 1, 1}};
  hfta_cuda cuda = {};
  hfta_cuda_gpu gpu = {
      {&hfta_cuda_functions, "gpu"}, &cuda, 0, nullptr, {"chip", 9, 0}};
  hfta_binding bindings[3] = {};
  hfta_tensor_map maps[2] = {};
  hfta_warp_group_launch groups = {};
  hfta_launch launch = {};
  hfta_task task = {};
  hfta_image images[2] = {};
  hfta_image_table table = {images, 2};
  hfta_program program = {};
  hfta_cu_function function = {};
  uint64_t first = 0;
  uint64_t parameters[HFTA_GPU_PARAMETERS] = {};
  void *places[HFTA_GPU_PARAMETERS] = {};
  hfta_cuda_images loaded = {};
  hfta_gpu_launcher launcher = {};
  hfta_gpu_result result = {};
  const hfta_launch *failed = nullptr;
};

TEST_F(CudaMaps, AreOneParameterMore) {
  loaded.warp_groups = true;
  ASSERT_EQ(run(), 0);
  ASSERT_EQ(driver.launched.size(), 1U);
  const Launched &own = driver.launched[0];
  EXPECT_EQ(own.gridX, 3U);
  EXPECT_EQ(own.gridZ, kCopies);
  EXPECT_EQ(own.blockX, 384U);
  EXPECT_EQ(own.sharedBytes, 100000U);
  EXPECT_EQ(own.parameters, 8U);
  // The block consists of two maps of 128 bytes each and two numbers, which say
  // whether copies are apart. Zeros pad it to a multiple of 64 bytes.
  ASSERT_EQ(own.maps.size(), 320U);
  EXPECT_EQ(own.maps[0], 1);
  EXPECT_EQ(own.maps[127], 1);
  EXPECT_EQ(own.maps[128], 2);
  EXPECT_EQ(own.maps[255], 2);
  uint32_t areApart[2];
  std::memcpy(areApart, own.maps.data() + 256, sizeof(areApart));
  EXPECT_EQ(areApart[0], 1U);
  EXPECT_EQ(areApart[1], 0U);
  for (size_t i = 264; i < own.maps.size(); ++i)
    EXPECT_EQ(own.maps[i], 0);
}

TEST_F(CudaMaps, HaveTheCopiesAsOneMoreDimension) {
  loaded.warp_groups = true;
  ASSERT_EQ(run(), 0);
  ASSERT_EQ(driver.encoded.size(), 2U);
  const Encoded &apart = driver.encoded[0], &one = driver.encoded[1];
  EXPECT_EQ(apart.type, HFTA_CU_MAP_UINT16);
  EXPECT_EQ(apart.swizzle, HFTA_CU_MAP_SWIZZLE_64);
  EXPECT_EQ(apart.address, (1U << 20) + 1024);
  EXPECT_EQ(apart.sizes, Sizes({64, 32, kCopies}));
  EXPECT_EQ(apart.strides, Sizes({128, 4096}));
  EXPECT_EQ(apart.box, Counts({32, 8, 1}));
  EXPECT_EQ(apart.steps, Counts({1, 2, 1}));
  EXPECT_EQ(one.type, HFTA_CU_MAP_UINT32);
  EXPECT_EQ(one.swizzle, HFTA_CU_MAP_SWIZZLE_128);
  EXPECT_EQ(one.address, (1U << 20) + 65536);
  EXPECT_EQ(one.sizes, Sizes({32, 4, 3, 1}));
  // For a shared operand, the stride of the copies' dimension is the extent of
  // the operand in bytes.
  EXPECT_EQ(one.strides, Sizes({160, 1024, 2048 + 480 + 128}));
  EXPECT_EQ(one.box, Counts({32, 2, 1, 1}));
  for (const Encoded &own : driver.encoded) {
    EXPECT_EQ(own.interleave, HFTA_CU_MAP_NOT_INTERLEAVED);
    EXPECT_EQ(own.promotion, HFTA_CU_MAP_PROMOTION_256);
    EXPECT_EQ(own.fill, HFTA_CU_MAP_FILL_ZEROS);
  }
}

TEST_F(CudaMaps, OtherImagesHaveNone) {
  ASSERT_EQ(run(), 0);
  EXPECT_TRUE(driver.encoded.empty());
  ASSERT_EQ(driver.launched.size(), 1U);
  EXPECT_EQ(driver.launched[0].gridX, 3U);
  EXPECT_EQ(driver.launched[0].blockX, 64U);
  EXPECT_EQ(driver.launched[0].sharedBytes, 0U);
  EXPECT_EQ(driver.launched[0].parameters, 7U);
}

TEST_F(CudaMaps, KernelsOfWarpGroupsMayHaveNone) {
  loaded.warp_groups = true;
  groups.map_count = 0;
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(driver.launched[0].blockX, 384U);
  EXPECT_EQ(driver.launched[0].parameters, 7U);
  launch.warp_groups = nullptr;
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(driver.launched[1].blockX, 64U);
}

TEST_F(CudaMaps, WhatTheDriverRefusesIsTold) {
  loaded.warp_groups = true;
  driver.result = kFailure;
  EXPECT_EQ(run(), kFailure);
  EXPECT_EQ(driver.encoded.size(), 1U);
  EXPECT_TRUE(driver.launched.empty());
  EXPECT_STREQ(result.call, "cuTensorMapEncodeTiled");
  EXPECT_EQ(failed, &launch);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST_F(CudaMaps, ImagesForWarpGroupsAllowSharedMemory) {
  images[0] = {"", 1, "sm_90", HFTA_IMAGE_CUBIN, 0};
  images[1] = {"", 1, "sm_90a", HFTA_IMAGE_CUBIN, 1};
  auto load = [&](hfta_error *error) {
    hfta_status status = hfta_cuda_images_load(&gpu, &program, &loaded, error);
    bool isForGroups = loaded.warp_groups;
    hfta_cuda_images_unload(&loaded);
    EXPECT_EQ(status == HFTA_OK || driver.setResult != 0, true);
    return isForGroups;
  };
  hfta_error error = {};
  EXPECT_TRUE(load(&error));
  ASSERT_EQ(driver.attributes.size(), 1U);
  EXPECT_EQ(driver.attributes[0],
            std::pair(int(HFTA_CU_MAX_DYNAMIC_SHARED_BYTES), 100000));
  // A kernel without dynamic shared memory needs no attribute.
  groups.shared_bytes = 0;
  EXPECT_TRUE(load(&error));
  EXPECT_EQ(driver.attributes.size(), 1U);
  groups.shared_bytes = 1;
  driver.setResult = kFailure;
  load(&error);
  EXPECT_NE(std::string(error.message)
                .find("cuFuncSetAttribute failed for kernel 'kernel' of task "
                      "'task'"),
            std::string::npos);
  // Another chip gets the other image, whose kernels have no warp groups.
  gpu.chip.minor = 1;
  EXPECT_FALSE(load(&error));
  EXPECT_EQ(driver.attributes.size(), 2U);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Tests of a sound program, one launch of which has a map.
class SoundMaps : public testing::Test {
protected:
  SoundMaps() {
    fake_options options = defaultOptions();
    program = fake_program_make(&options);
    auto *launch = const_cast<hfta_launch *>(&program->tasks[0].launches[0]);
    auto *binding = const_cast<hfta_binding *>(&launch->bindings[0]);
    binding->offset = binding->copy_stride = 0;
    bytes = binding->bytes = program->segments[binding->segment].bytes;
    map = {0, 2, 1, 0, dimensions};
    groups = {&map, 1, 128, 0, 0};
    launch->warp_groups = &groups;
    bindings = launch->binding_count;
    dimensions[0] = {bytes / 2, 2, 16, 1};
    dimensions[1] = {1, 32, 1, 1};
  }
  ~SoundMaps() override { fake_program_free(program); }

  bool isSound() const {
    return hfta_program_check(program, nullptr) == HFTA_OK;
  }

  hfta_program *program;
  uint64_t bytes;
  uint32_t bindings;
  hfta_map_dimension dimensions[HFTA_MAX_MAP_RANK] = {};
  hfta_tensor_map map = {};
  hfta_warp_group_launch groups = {};
};

/// Expects that assigning `value` to `place` makes the program unsound.
#define EXPECT_REFUSED(place, value)                                           \
  do {                                                                         \
    auto before = place;                                                       \
    EXPECT_TRUE(isSound());                                                    \
    place = value;                                                             \
    EXPECT_FALSE(isSound()) << #place " = " #value;                            \
    place = before;                                                            \
  } while (false)

TEST_F(SoundMaps, HaveOperandsThatReachFarEnough) {
  EXPECT_REFUSED(dimensions[0].size, bytes / 2 + 1);
  EXPECT_REFUSED(dimensions[0].size, 0);
  map.rank = 2;
  EXPECT_REFUSED(dimensions[1].size, 2);
  EXPECT_REFUSED(dimensions[1].stride, 24);
  EXPECT_REFUSED(dimensions[1].stride, uint64_t(1) << 40);
  dimensions[0].size = 1;
  dimensions[1].stride = 0;
  EXPECT_REFUSED(dimensions[1].size, (uint64_t(1) << 32) + 1);
}

TEST_F(SoundMaps, AreWhatAGpuCopies) {
  EXPECT_REFUSED(map.binding, bindings);
  EXPECT_REFUSED(map.element_bytes, 1);
  EXPECT_REFUSED(map.rank, 0);
  EXPECT_REFUSED(map.rank, HFTA_MAX_MAP_RANK + 1);
  EXPECT_REFUSED(map.dimensions, nullptr);
  EXPECT_REFUSED(dimensions[0].stride, 4);
  EXPECT_REFUSED(dimensions[0].step, 2);
  for (uint32_t box : {0, 8, 24, 128})
    EXPECT_REFUSED(dimensions[0].box, box);
  map.rank = 2;
  for (uint32_t box : {0, 257})
    EXPECT_REFUSED(dimensions[1].box, box);
  for (uint32_t step : {0, 9})
    EXPECT_REFUSED(dimensions[1].step, step);
  EXPECT_REFUSED(groups.block_threads, 0);
  EXPECT_REFUSED(groups.block_threads, 1025);
  EXPECT_REFUSED(groups.maps, nullptr);
}

} // namespace
