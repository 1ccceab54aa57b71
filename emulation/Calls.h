//===- Calls.h - Helpers of the emulated driver's calls ---------*- C++ -*-===//

#ifndef HFTA_EMULATION_CALLS_H
#define HFTA_EMULATION_CALLS_H

#include "Emulation.h"

#include <algorithm>

/// Declares a function that the library exports under its C name.
#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace emulation {

/// Counts a call of the driver function `call`, named without a suffix such as
/// _v2. Returns whether HFTA_EMULATION_FAIL makes this very call fail.
bool fails(const char *call);

/// Makes a launch from a kernel node's arguments, whose values it copies.
/// Returns kInvalidValue if the grid, the block or the shared memory has a size
/// that isn't allowed.
hfta_cu_result makeLaunch(const hfta_cu_kernel_node &kernel, Launch &launch);

/// Begins a driver function: returns kUnknown if this call is to fail;
/// otherwise defines `device` and locks it until the function returns.
#define ENTER(name)                                                            \
  if (fails(name))                                                             \
    return kUnknown;                                                           \
  Device &device = Device::get();                                              \
  std::lock_guard<std::mutex> guard(device.mutex)

/// Returns the driver's handle of an object, which is a cast pointer.
template <typename Handle, typename Object>
inline Handle toHandle(Object *object) {
  return reinterpret_cast<Handle>(object);
}
inline Stream &fromHandle(hfta_cu_stream stream) {
  return *reinterpret_cast<Stream *>(stream);
}
inline Event &fromHandle(hfta_cu_event event) {
  return *reinterpret_cast<Event *>(event);
}

/// Destroys the object with this handle. Returns kInvalidValue if `all` doesn't
/// contain the object.
template <typename Object, typename Handle>
inline hfta_cu_result destroy(std::vector<std::unique_ptr<Object>> &all,
                              Handle handle) {
  auto found = std::find_if(all.begin(), all.end(), [&](const auto &own) {
    return toHandle<Handle>(own.get()) == handle;
  });
  if (found == all.end())
    return kInvalidValue;
  all.erase(found);
  return kSuccess;
}

} // namespace emulation

#endif // HFTA_EMULATION_CALLS_H
