//===- Calls.h - Helpers of the driver's functions --------------*- C++ -*-===//

#ifndef HFTA_EMULATION_CALLS_H
#define HFTA_EMULATION_CALLS_H

#include "Emulation.h"

#include <algorithm>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace emulation {

/// Returns whether this call is the one that is to fail.
bool fails(const char *call);

/// Checks the arguments of a launch. Returns kInvalidValue if they are wrong.
hfta_cu_result makeLaunch(const hfta_cu_kernel_node &kernel, Launch &launch);

/// Begins a driver function, which holds the lock of the device until it
/// returns.
#define ENTER(name)                                                            \
  if (fails(name))                                                             \
    return kUnknown;                                                           \
  Device &device = Device::get();                                              \
  std::lock_guard<std::mutex> guard(device.mutex)

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
