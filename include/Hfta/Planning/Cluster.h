//===- Cluster.h - Machines, their devices and what joins them --*- C++ -*-===//

#ifndef HFTA_PLANNING_CLUSTER_H
#define HFTA_PLANNING_CLUSTER_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Whether what is sent in both directions at once takes turns.
enum class Duplex {
  full, ///< each direction has the whole rate
  half  ///< both directions share it
};

/// Devices of all machines together.
inline constexpr int64_t kMostDevices = 4096;

/// The devices that a plan may use. They are numbered from 0 through all
/// machines: with two machines of 8, devices 8 to 15 are the second machine's.
struct Cluster {
  /// Devices of each machine, at least one.
  std::vector<int64_t> devices;
  /// Bytes that each device has; 0: as many as a plan needs.
  int64_t memory = 0;
  /// Between devices of one machine, bytes a second.
  double link = 25e9;
  /// Between machines, bytes a second.
  double network = 3e9;
  /// What one machine receives from one device of another, bytes a second,
  /// where several send to it.
  double pointToPoint = 3e9;
  /// Seconds that each message takes besides.
  double latency = 0;
  Duplex duplex = Duplex::full;
  /// How much longer a device computes that exchanges micro-batches with
  /// others, because what looks after messages takes time from it.
  double slowdown = 1;

  /// Devices of all machines.
  int64_t getDeviceCount() const;
  /// The machine that has the device of this number, which must exist.
  int64_t getMachineOf(int64_t device) const;
  /// The number of a machine's first device.
  int64_t getFirstDevice(int64_t machine) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_CLUSTER_H
