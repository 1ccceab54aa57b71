//===- Driver.cpp - The functions of the emulated driver ------------------===//
//
// The exported functions replace those of NVIDIA's driver that the runtime uses
// (cuda_driver.h). The functions for graphs are in Graphs.cpp.
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Faults.h"
#include "TensorMaps.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

using namespace emulation;

/// Marks this library as emulated: the runtime looks this symbol up, and then
/// loads only emulated images.
EXPORTED const int hfta_emulated_driver = 1;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

[[noreturn]] static void refuse(const char *name, const char *value,
                                const char *expected) {
  std::fprintf(stderr, "emulated driver: %s='%s': expected %s\n", name, value,
               expected);
  std::exit(2);
}

static void readDevice(Settings &settings) {
  constexpr const char *name = "HFTA_EMULATION_DEVICE";
  const char *value = std::getenv(name);
  if (!value)
    return;
  settings.chip = std::string(value).substr(0, std::strcspn(value, ":"));
  char *end = nullptr;
  long version = settings.chip.compare(0, 3, "sm_") == 0
                     ? std::strtol(settings.chip.c_str() + 3, &end, 10)
                     : 0;
  if (version < 10 || (*end != '\0' && std::strcmp(end, "a") != 0))
    refuse(name, value, "CHIP[:BYTES], as in sm_80:1000000");
  settings.major = int(version / 10);
  settings.minor = int(version % 10);
  const char *bytes = std::strchr(value, ':');
  if (!bytes)
    return;
  settings.bytes = std::strtoull(bytes + 1, &end, 10);
  if (*end != '\0' || end == bytes + 1)
    refuse(name, value, "CHIP[:BYTES], as in sm_80:1000000");
}

/// Reads an environment variable of the form WHAT:N with N >= 1 into `what` and
/// `times`. Returns false if the variable isn't set. A malformed one ends the
/// process with a message that says what was expected.
static bool readNumbered(const char *name, const char *expected,
                         std::string &what, long &times) {
  const char *value = std::getenv(name);
  if (!value)
    return false;
  const char *number = std::strchr(value, ':');
  char *end = nullptr;
  if (number)
    times = std::strtol(number + 1, &end, 10);
  if (!number || *end != '\0' || times < 1)
    refuse(name, value, expected);
  what.assign(value, number);
  return true;
}

static void readFailing(Settings &settings) {
  readNumbered("HFTA_EMULATION_FAIL", "CALL:N, as in cuLaunchKernel:3",
               settings.failing, settings.failingNumber);
  constexpr const char *fault = "HFTA_EMULATION_FAULT";
  const std::string expected =
      "FAULT:N, as in barrier:1; there are " + listFaults();
  long times = 0;
  if (readNumbered(fault, expected.c_str(), settings.fault, times) &&
      !isFault(settings.fault.c_str()))
    refuse(fault, std::getenv(fault), expected.c_str());
  settings.faultNumber = uint64_t(times);
}

static void readSeed(Settings &settings) {
  constexpr const char *name = "HFTA_EMULATION_SEED";
  const char *value = std::getenv(name);
  if (!value)
    return;
  char *end = nullptr;
  settings.seed = std::strtoull(value, &end, 10);
  if (*end != '\0' || end == value)
    refuse(name, value, "a whole number, as in 5");
}

static Settings readSettings() {
  Settings settings;
  readDevice(settings);
  readFailing(settings);
  readSeed(settings);
  return settings;
}

const Settings &emulation::getSettings() {
  static const Settings settings = readSettings();
  return settings;
}

bool emulation::fails(const char *call) {
  static std::atomic<long> calls(0);
  const Settings &settings = getSettings();
  return settings.failing == call && ++calls == settings.failingNumber;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

EXPORTED hfta_cu_result cuInit(unsigned) {
  ENTER("cuInit");
  return getSettings().bytes > 0 ? kSuccess : HFTA_CU_NO_DEVICE;
}

EXPORTED hfta_cu_result cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = 1;
  return kSuccess;
}

EXPORTED hfta_cu_result cuDeviceGet(hfta_cu_device *out, int) {
  ENTER("cuDeviceGet");
  *out = 0;
  return kSuccess;
}

EXPORTED hfta_cu_result cuDeviceGetName(char *name, int length,
                                        hfta_cu_device) {
  ENTER("cuDeviceGetName");
  std::snprintf(name, size_t(length), "emulated %s",
                getSettings().chip.c_str());
  return kSuccess;
}

EXPORTED hfta_cu_result cuDeviceGetAttribute(int *value, int attribute,
                                             hfta_cu_device) {
  ENTER("cuDeviceGetAttribute");
  if (attribute == HFTA_CU_COMPUTE_CAPABILITY_MAJOR)
    *value = getSettings().major;
  else if (attribute == HFTA_CU_COMPUTE_CAPABILITY_MINOR)
    *value = getSettings().minor;
  else
    return kInvalidValue;
  return kSuccess;
}

EXPORTED hfta_cu_result cuDevicePrimaryCtxRetain(hfta_cu_context *context,
                                                 hfta_cu_device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = toHandle<hfta_cu_context>(&device);
  return kSuccess;
}

EXPORTED hfta_cu_result cuDevicePrimaryCtxRelease_v2(hfta_cu_device) {
  ENTER("cuDevicePrimaryCtxRelease");
  return kSuccess;
}

EXPORTED hfta_cu_result cuCtxSetCurrent(hfta_cu_context context) {
  ENTER("cuCtxSetCurrent");
  return context == toHandle<hfta_cu_context>(&device) ? kSuccess
                                                       : kInvalidValue;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

EXPORTED hfta_cu_result cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER("cuMemGetInfo");
  *available = device.memory.countFree();
  *total = getSettings().bytes;
  return kSuccess;
}

EXPORTED hfta_cu_result cuMemAlloc_v2(hfta_cu_address *address, size_t bytes) {
  ENTER("cuMemAlloc");
  return device.memory.allocate(bytes, *address);
}

EXPORTED hfta_cu_result cuMemFree_v2(hfta_cu_address address) {
  ENTER("cuMemFree");
  return device.memory.free(address);
}

EXPORTED hfta_cu_result cuMemHostRegister_v2(void *memory, size_t bytes,
                                             unsigned) {
  ENTER("cuMemHostRegister");
  auto address = reinterpret_cast<hfta_cu_address>(memory);
  if (bytes == 0 || !device.memory.isHost(address, bytes))
    return kInvalidValue;
  return device.locked.insert(memory).second ? kSuccess : kInvalidValue;
}

EXPORTED hfta_cu_result cuMemHostUnregister(void *memory) {
  ENTER("cuMemHostUnregister");
  return device.locked.erase(memory) ? kSuccess : kInvalidValue;
}

EXPORTED hfta_cu_result cuMemsetD8Async(hfta_cu_address to, unsigned char value,
                                        size_t bytes, hfta_cu_stream stream) {
  ENTER("cuMemsetD8Async");
  if (!device.memory.isDevice(to, bytes))
    return kInvalidValue;
  if (strikes(Fault::clear))
    return kSuccess;
  device.push(fromHandle(stream), {[=] {
                std::memset(reinterpret_cast<void *>(to), value, bytes);
                return kSuccess;
              }});
  return kSuccess;
}

EXPORTED hfta_cu_result cuMemcpyAsync(hfta_cu_address to, hfta_cu_address from,
                                      size_t bytes, hfta_cu_stream stream) {
  ENTER("cuMemcpyAsync");
  for (hfta_cu_address place : {to, from})
    if (!device.memory.isDevice(place, bytes) &&
        !device.memory.isHost(place, bytes))
      return kInvalidValue;
  if (strikes(Fault::copy))
    return kSuccess;
  device.push(fromHandle(stream), {[=] {
                std::memcpy(reinterpret_cast<void *>(to),
                            reinterpret_cast<const void *>(from), bytes);
                return kSuccess;
              }});
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

EXPORTED hfta_cu_result cuModuleLoadData(hfta_cu_module *module,
                                         const void *image) {
  ENTER("cuModuleLoadData");
  std::unique_ptr<Module> loaded;
  hfta_cu_result result = loadModule(image, loaded);
  if (result != kSuccess)
    return result;
  *module = toHandle<hfta_cu_module>(loaded.get());
  device.modules.push_back(std::move(loaded));
  return kSuccess;
}

EXPORTED hfta_cu_result cuModuleUnload(hfta_cu_module module) {
  ENTER("cuModuleUnload");
  return destroy(device.modules, module);
}

EXPORTED hfta_cu_result cuModuleGetFunction(hfta_cu_function *function,
                                            hfta_cu_module module,
                                            const char *name) {
  ENTER("cuModuleGetFunction");
  std::unique_ptr<Function> found;
  hfta_cu_result result =
      findFunction(*reinterpret_cast<Module *>(module), name, found);
  if (result != kSuccess)
    return result;
  *function = toHandle<hfta_cu_function>(found.get());
  device.functions.push_back(std::move(found));
  return kSuccess;
}

/// Returns the most bytes of shared memory that a block of this chip can have
/// (CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability").
static unsigned getMostSharedBytes() {
  const Settings &settings = getSettings();
  if (settings.major == 9 || settings.major == 10)
    return 227U << 10;
  return settings.major == 8 && settings.minor == 0 ? 163U << 10 : 99U << 10;
}

EXPORTED hfta_cu_result cuFuncSetAttribute(hfta_cu_function function,
                                           int attribute, int value) {
  ENTER("cuFuncSetAttribute");
  if (attribute != HFTA_CU_MAX_DYNAMIC_SHARED_BYTES || value < 0 ||
      unsigned(value) > getMostSharedBytes())
    return kInvalidValue;
  reinterpret_cast<Function *>(function)->sharedBytes =
      std::max(unsigned(value), kFreeSharedBytes);
  return kSuccess;
}

EXPORTED hfta_cu_result cuTensorMapEncodeTiled(
    hfta_cu_tensor_map *map, int type, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
    const uint32_t *steps, int interleave, int swizzle, int promotion,
    int fill) {
  ENTER("cuTensorMapEncodeTiled");
  return tensor_maps::encodeTiled(map, type, rank, address, sizes, strides, box,
                                  steps, interleave, swizzle, promotion, fill);
}

hfta_cu_result emulation::makeLaunch(const hfta_cu_kernel_node &kernel,
                                     Launch &launch) {
  constexpr unsigned kMostThreads = 1024, kMostCopies = 65535;
  if (kernel.grid_x == 0 || kernel.grid_x > INT32_MAX || kernel.grid_y != 1 ||
      kernel.grid_z == 0 || kernel.grid_z > kMostCopies ||
      kernel.block_x == 0 || kernel.block_x > kMostThreads ||
      kernel.block_y != 1 || kernel.block_z != 1)
    return kInvalidValue;
  const auto *function = reinterpret_cast<Function *>(kernel.function);
  if (kernel.shared_bytes > function->sharedBytes)
    return kInvalidValue;
  launch = {function, kernel.grid_x, kernel.grid_z, kernel.block_x, {}, {}};
  // The driver API doesn't pass the number of parameters. The runtime ends
  // their list with NULL. Each has 8 bytes, except the block of tensor maps.
  size_t count = 0;
  while (kernel.parameters[count])
    ++count;
  if (function->mapCount > 0) {
    if (count == 0)
      return kInvalidValue;
    launch.maps.resize(hfta_map_block_bytes(function->mapCount) /
                       sizeof(uint64_t));
    std::memcpy(launch.maps.data(), kernel.parameters[--count],
                launch.maps.size() * sizeof(uint64_t));
  }
  launch.parameters.resize(count);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(&launch.parameters[i], kernel.parameters[i], sizeof(uint64_t));
  return kSuccess;
}

EXPORTED hfta_cu_result cuLaunchKernel(
    hfta_cu_function function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    hfta_cu_stream stream, void **parameters, void **extra) {
  ENTER("cuLaunchKernel");
  Launch launch;
  hfta_cu_result result =
      makeLaunch({function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                  sharedBytes, parameters, extra, nullptr, nullptr},
                 launch);
  if (result != kSuccess)
    return result;
  device.push(fromHandle(stream),
              {[launch, &device] { return run(launch, device.random); }});
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

EXPORTED hfta_cu_result cuLaunchHostFunc(hfta_cu_stream stream,
                                         hfta_cu_host_function function,
                                         void *argument) {
  ENTER("cuLaunchHostFunc");
  Command command = {[=] {
    function(argument);
    return kSuccess;
  }};
  command.ofHost = true;
  device.push(fromHandle(stream), std::move(command));
  return kSuccess;
}

EXPORTED hfta_cu_result cuStreamCreate(hfta_cu_stream *stream, unsigned) {
  ENTER("cuStreamCreate");
  device.streams.push_back(std::make_unique<Stream>());
  *stream = toHandle<hfta_cu_stream>(device.streams.back().get());
  return kSuccess;
}

EXPORTED hfta_cu_result cuStreamDestroy_v2(hfta_cu_stream stream) {
  ENTER("cuStreamDestroy");
  return destroy(device.streams, stream);
}

EXPORTED hfta_cu_result cuStreamSynchronize(hfta_cu_stream stream) {
  ENTER("cuStreamSynchronize");
  if (strikes(Fault::host))
    return kSuccess;
  return device.finish(fromHandle(stream));
}

EXPORTED hfta_cu_result cuStreamWaitEvent(hfta_cu_stream stream,
                                          hfta_cu_event event, unsigned) {
  ENTER("cuStreamWaitEvent");
  if (strikes(Fault::wait))
    return kSuccess;
  Command command;
  command.awaited = &fromHandle(event);
  command.times = command.awaited->recorded;
  device.push(fromHandle(stream), std::move(command));
  return kSuccess;
}

EXPORTED hfta_cu_result cuEventCreate(hfta_cu_event *event, unsigned) {
  ENTER("cuEventCreate");
  device.events.push_back(std::make_unique<Event>());
  *event = toHandle<hfta_cu_event>(device.events.back().get());
  return kSuccess;
}

EXPORTED hfta_cu_result cuEventRecord(hfta_cu_event event,
                                      hfta_cu_stream stream) {
  ENTER("cuEventRecord");
  Event *own = &fromHandle(event);
  ++own->recorded;
  Command command = {[own] {
    ++own->happened;
    return kSuccess;
  }};
  command.ofHost = true;
  device.push(fromHandle(stream), std::move(command));
  return kSuccess;
}

EXPORTED hfta_cu_result cuEventSynchronize(hfta_cu_event event) {
  ENTER("cuEventSynchronize");
  if (strikes(Fault::host))
    return kSuccess;
  return device.finish(fromHandle(event));
}

EXPORTED hfta_cu_result cuEventDestroy_v2(hfta_cu_event event) {
  ENTER("cuEventDestroy");
  return destroy(device.events, event);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
struct Text {
  hfta_cu_result result;
  const char *name, *text;
};
} // namespace

static constexpr Text texts[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {HFTA_CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no device is detected"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "the image is invalid"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const Text &findText(hfta_cu_result result) {
  const Text *found =
      std::find_if(std::begin(texts), std::end(texts),
                   [&](const Text &text) { return text.result == result; });
  return found == std::end(texts) ? *std::prev(found) : *found;
}

EXPORTED hfta_cu_result cuGetErrorName(hfta_cu_result result,
                                       const char **name) {
  *name = findText(result).name;
  return kSuccess;
}

EXPORTED hfta_cu_result cuGetErrorString(hfta_cu_result result,
                                         const char **text) {
  *text = findText(result).text;
  return kSuccess;
}
