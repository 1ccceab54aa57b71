//===- DeviceSet.h - Devices of a stage, by machine -------------*- C++ -*-===//

#ifndef HFTA_PLANNING_DEVICESET_H
#define HFTA_PLANNING_DEVICESET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::hfta::planning {

/// How many devices a stage has on each machine. Which ones doesn't matter to
/// what it costs.
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
  /// By increasing machine.
  llvm::ArrayRef<Part> getParts() const { return parts; }
  int32_t getMachineCount() const { return parts.size(); }
  int32_t getCount(int32_t machine) const;
  /// Changes the devices on one machine, whose count must not become negative.
  void add(int32_t machine, int32_t count);

  bool operator==(const DeviceSet &other) const { return parts == other.parts; }

private:
  llvm::SmallVector<Part, 2> parts;
  int64_t total = 0;
};

/// Where devices are taken from.
enum class Placement {
  fresh,  ///< whole machines that nobody uses, in order; then what is left
  append, ///< machines that are used in part; then others
  scatter ///< one device of each machine in turn
};

inline constexpr Placement kPlacements[] = {Placement::fresh, Placement::append,
                                            Placement::scatter};

/// The devices that stages haven't got yet.
class FreeDevices {
public:
  /// Of so many devices of each machine, the machines in this order; without
  /// one, in that of their numbers.
  explicit FreeDevices(llvm::ArrayRef<int64_t> devices,
                       llvm::ArrayRef<int32_t> order = {});

  /// Takes `count` devices, of which there must be so many.
  DeviceSet take(int64_t count, Placement placement);
  /// Takes what `devices` names, which must be free.
  void take(const DeviceSet &devices);
  int64_t getCount() const;
  /// All that is left.
  DeviceSet getRest() const;

private:
  void takeFrom(int32_t machine, int64_t wanted, DeviceSet &taken,
                int64_t &missing);

  llvm::SmallVector<int32_t, 16> free, all; // by machine
  llvm::SmallVector<int32_t, 16> order;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_DEVICESET_H
