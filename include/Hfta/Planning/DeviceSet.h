//===- DeviceSet.h - Devices of a stage, by machine -------------*- C++ -*-===//

#ifndef HFTA_PLANNING_DEVICESET_H
#define HFTA_PLANNING_DEVICESET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::hfta::planning {

/// The number of devices that a stage has on each machine. Which devices of a
/// machine these are makes no difference to the costs.
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
  /// Returns the parts in ascending order of machines.
  llvm::ArrayRef<Part> getParts() const { return parts; }
  int32_t getMachineCount() const { return parts.size(); }
  int32_t getCount(int32_t machine) const;
  /// Adds `count` devices, or removes them if it is negative, on one machine,
  /// whose count must not become negative.
  void add(int32_t machine, int32_t count);

  bool operator==(const DeviceSet &other) const { return parts == other.parts; }

private:
  llvm::SmallVector<Part, 2> parts;
  int64_t total = 0;
};

/// The rule for choosing the machines that devices are taken from.
enum class Placement {
  fresh,  ///< unused machines in order; then what is left
  append, ///< partly used machines; then others
  scatter ///< one device of each machine in turn
};

inline constexpr Placement kPlacements[] = {Placement::fresh, Placement::append,
                                            Placement::scatter};

/// The devices that no stage has been given yet.
class FreeDevices {
public:
  /// Starts with this number of devices on each machine. Machines are used in
  /// the given order, or in that of their numbers if none is given.
  explicit FreeDevices(llvm::ArrayRef<int64_t> devices,
                       llvm::ArrayRef<int32_t> order = {});

  /// Takes `count` devices; at least as many must be free.
  DeviceSet take(int64_t count, Placement placement);
  /// Takes the devices in the given set, which must be free.
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

#endif // HFTA_PLANNING_DEVICESET_H
