//===- DeviceSet.cpp - Devices of a stage, by machine ---------------------===//

#include "Hfta/Planning/Common/DeviceSet.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <numeric>

using namespace mlir::hfta::planning;

int32_t DeviceSet::getCount(int32_t machine) const {
  for (const Part &part : parts)
    if (part.machine == machine)
      return part.count;
  return 0;
}

void DeviceSet::add(int32_t machine, int32_t count) {
  total += count;
  // Machines are mostly added in ascending order.
  if (count > 0 && (parts.empty() || parts.back().machine < machine)) {
    parts.push_back({machine, count});
    return;
  }
  auto *at = llvm::find_if(
      parts, [&](const Part &part) { return part.machine >= machine; });
  if (at == parts.end() || at->machine != machine)
    at = parts.insert(at, {machine, 0});
  at->count += count;
  assert(at->count >= 0 && "a machine has no fewer than no devices");
  if (at->count == 0)
    parts.erase(at);
}

FreeDevices::FreeDevices(llvm::ArrayRef<int64_t> devices,
                         llvm::ArrayRef<int32_t> order)
    : free(devices.begin(), devices.end()), all(devices.begin(), devices.end()),
      order(order.begin(), order.end()) {
  if (!order.empty())
    return;
  this->order.resize(devices.size());
  std::iota(this->order.begin(), this->order.end(), 0);
}

void FreeDevices::takeFrom(int32_t machine, int64_t wanted, DeviceSet &taken,
                           int64_t &missing) {
  int64_t count = std::min({wanted, missing, int64_t{free[machine]}});
  if (count == 0)
    return;
  free[machine] -= count;
  missing -= count;
  taken.add(machine, count);
}

DeviceSet FreeDevices::take(int64_t count, Placement placement) {
  assert(count <= getCount() && "there are not so many devices");
  DeviceSet taken;
  int64_t missing = count;
  if (placement == Placement::scatter) {
    while (missing > 0)
      for (int32_t machine : order)
        takeFrom(machine, 1, taken, missing);
    return taken;
  }
  // Whether a machine is in use is decided by the state before this call takes
  // anything.
  llvm::SmallVector<int32_t, 16> before = free;
  for (bool wanted : {true, false})
    for (int32_t machine : order) {
      bool isFresh = before[machine] == all[machine];
      if ((isFresh == (placement == Placement::fresh)) == wanted)
        takeFrom(machine, missing, taken, missing);
    }
  return taken;
}

void FreeDevices::take(const DeviceSet &devices) {
  for (const DeviceSet::Part &part : devices.getParts()) {
    assert(part.count <= free[part.machine] && "the devices aren't free");
    free[part.machine] -= part.count;
  }
}

int64_t FreeDevices::getCount() const {
  return std::accumulate(free.begin(), free.end(), int64_t{0});
}

DeviceSet FreeDevices::getRest() const {
  DeviceSet rest;
  for (auto [machine, count] : llvm::enumerate(free))
    if (count != 0)
      rest.add(machine, count);
  return rest;
}
