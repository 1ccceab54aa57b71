//===- Cluster.cpp - Machines, their devices and their links --------------===//

#include "Hfta/Planning/Common/Cluster.h"

#include <cassert>
#include <numeric>

using namespace mlir::hfta::planning;

int64_t Cluster::getDeviceCount() const {
  return std::accumulate(devices.begin(), devices.end(), int64_t{0});
}

int64_t Cluster::getFirstDevice(int64_t machine) const {
  return std::accumulate(devices.begin(), devices.begin() + machine,
                         int64_t{0});
}

int64_t Cluster::getMachineOf(int64_t device) const {
  int64_t machine = 0;
  for (int64_t count : devices) {
    if (device < count)
      return machine;
    device -= count;
    ++machine;
  }
  assert(false && "the cluster has no device of this number");
  return machine;
}
