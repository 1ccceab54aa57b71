//===- Cluster.h - Machines, their devices and what joins them --*- C++ -*-===//

#ifndef HFTA_PLANNING_CLUSTER_H
#define HFTA_PLANNING_CLUSTER_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Whether messages that are sent in both directions at once share the rate.
enum class Duplex {
  full, ///< each direction has the whole rate
  half  ///< both directions share it
};

/// The most devices that all machines may have together.
inline constexpr int64_t kMostDevices = 4096;

/// The devices that a plan may use. They are numbered from 0 across all
/// machines: with two machines of 8, devices 8 to 15 are the second machine's.
struct Cluster {
  /// The number of devices of each machine, at least one.
  std::vector<int64_t> devices;
  /// The memory of each device in bytes; 0: as many as a plan needs.
  int64_t memory = 0;
  /// The rate between devices of one machine, in bytes per second.
  double link = 25e9;
  /// The rate between machines, in bytes per second.
  double network = 3e9;
  /// The rate at which one machine receives from one device of another machine
  /// where several devices send to it, in bytes per second.
  double pointToPoint = 3e9;
  /// Seconds that each message takes in addition.
  double latency = 0;
  Duplex duplex = Duplex::full;
  /// The factor by which a device computes more slowly while it exchanges
  /// micro-batches with other devices, because handling messages takes
  /// processor time.
  double slowdown = 1;

  /// Returns the number of devices of all machines.
  int64_t getDeviceCount() const;
  /// Returns the machine of the device with this number, which must exist.
  int64_t getMachineOf(int64_t device) const;
  /// Returns the number of a machine's first device.
  int64_t getFirstDevice(int64_t machine) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_CLUSTER_H
