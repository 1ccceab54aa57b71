//===- DeviceSet.h - Devices of a stage, by machine -------------*- C++ -*-===//

#ifndef HFTA_PLANNING_COMMON_DEVICESET_H
#define HFTA_PLANNING_COMMON_DEVICESET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::hfta::planning {

/// The devices of a stage, as a number of devices on each machine. All devices
/// of a machine are equivalent.
class DeviceSet {
public:
  struct Part {
    int32_t machine;
    int32_t count; ///< at least 1
    bool operator==(const Part &other) const {
      return machine == other.machine && count == other.count;
    }
  };

  int64_t size() const { return total; }
  bool empty() const { return total == 0; }
  /// Returns the machines with at least one device, in ascending order.
  llvm::ArrayRef<Part> getParts() const { return parts; }
  int32_t getMachineCount() const { return parts.size(); }
  /// Returns the number of devices on this machine.
  int32_t getCount(int32_t machine) const;
  /// Adds `count` devices on a machine, or removes -count devices if it is
  /// negative. The machine's number of devices must not become negative.
  void add(int32_t machine, int32_t count);

  bool operator==(const DeviceSet &other) const { return parts == other.parts; }

private:
  llvm::SmallVector<Part, 2> parts;
  int64_t total = 0;
};

/// The order in which free devices are given to a stage. The policies are those
/// of DAPPLE (Fan et al., PPoPP 2021).
enum class Placement {
  fresh,  ///< from unused machines first, then from partly used ones
  append, ///< from partly used machines first, then from unused ones
  scatter ///< one device from each machine in turn (round-robin)
};

inline constexpr Placement kPlacements[] = {Placement::fresh, Placement::append,
                                            Placement::scatter};

/// The devices of a cluster that no stage has yet.
class FreeDevices {
public:
  /// Starts with this number of free devices on each machine. Machines are
  /// considered in the given `order`, or by ascending number if it is empty.
  explicit FreeDevices(llvm::ArrayRef<int64_t> devices,
                       llvm::ArrayRef<int32_t> order = {});

  /// Takes `count` devices by the given policy. At least as many must be free.
  DeviceSet take(int64_t count, Placement placement);
  /// Takes the given devices, which must be free.
  void take(const DeviceSet &devices);
  int64_t getCount() const;
  /// Returns all devices that are still free.
  DeviceSet getRest() const;

private:
  void takeFrom(int32_t machine, int64_t wanted, DeviceSet &taken,
                int64_t &missing);

  llvm::SmallVector<int32_t, 16> free, all; // by machine
  llvm::SmallVector<int32_t, 16> order;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_DEVICESET_H
