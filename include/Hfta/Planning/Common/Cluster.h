//===- Cluster.h - Machines, their devices and what joins them --*- C++ -*-===//
//
// Describes the machines and devices for which a pipeline is planned, and the
// links between them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_CLUSTER_H
#define HFTA_PLANNING_COMMON_CLUSTER_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Whether messages that are sent in opposite directions at the same time share
/// a link's rate.
enum class Duplex {
  full, ///< each direction has the whole rate
  half  ///< both directions share it
};

/// The largest total number of devices in a cluster.
inline constexpr int64_t kMostDevices = 4096;

/// The devices that a plan may use. They are numbered from 0 across all
/// machines: with two machines of 8, devices 8 to 15 are the second machine's.
struct Cluster {
  /// The number of devices of each machine, at least one.
  std::vector<int64_t> devices;
  /// The memory of each device, in bytes; 0 means no limit.
  int64_t memory = 0;
  /// The rate between devices of one machine, in bytes per second.
  double link = 25e9;
  /// The rate between machines, in bytes per second.
  double network = 3e9;
  /// The rate, in bytes per second, at which a machine receives from each
  /// device of another machine while several devices send to it.
  double pointToPoint = 3e9;
  /// The time that each message takes in addition to its bytes, in seconds.
  double latency = 0;
  Duplex duplex = Duplex::full;
  /// The factor by which a device computes more slowly while it exchanges
  /// micro-batches with other devices, because handling messages takes
  /// processor time.
  double slowdown = 1;

  /// Returns the number of devices of all machines.
  int64_t getDeviceCount() const;
  /// Returns the machine of a device. The device must exist.
  int64_t getMachineOf(int64_t device) const;
  /// Returns the number of a machine's first device.
  int64_t getFirstDevice(int64_t machine) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_CLUSTER_H
