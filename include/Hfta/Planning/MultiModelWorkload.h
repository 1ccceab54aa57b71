//===- MultiModelWorkload.h - Models that share devices ---------*- C++ -*-===//
//
// Several models, each too large for a device, of which shards take turns on
// devices. A mini-batch is a chain of units: a unit brings a shard and its
// input to a device, computes, and takes back what has changed. This is what
// HYDRA schedules (Nagrecha and Kumar, 2021).
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MULTIMODELWORKLOAD_H
#define HFTA_PLANNING_MULTIMODELWORKLOAD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

enum class UnitKind : uint8_t {
  forward,
  loss,    ///< the last shard's: forward, loss and backward in one
  backward ///< computes its forward again
};
/// As it stands in files: "f", "fl", "b".
llvm::StringRef getName(UnitKind kind);

/// A shard's turn on a device.
struct ShardUnit {
  UnitKind kind = UnitKind::forward;
  int64_t shard = 0; ///< of the model's, from 0
  double seconds = 0;
  int64_t bytesIn = 0;  ///< that must be there before it begins
  int64_t bytesOut = 0; ///< that leave the device after it
  /// Of bytesIn: the shard's own, which need no reading where they are already.
  int64_t shardBytes = 0;

  /// Whether other copies of the shard are out of date afterwards.
  bool changesShard() const { return kind != UnitKind::forward; }
};

struct ShardedModel {
  std::string name;
  int64_t batches = 1;
  std::vector<ShardUnit> units; ///< of a mini-batch, one after the other

  double getBatchSeconds() const;
  /// Of all mini-batches.
  double getSeconds() const;
  int64_t getUnitCount() const;
};

/// Equal devices, each with a channel in and one out.
struct MultiModelWorkload {
  int64_t devices = 1;
  double readBytesPerSecond = 1;
  double writeBytesPerSecond = 1;
  /// Whether a device fetches the next unit while one is computed.
  bool doubleBuffer = true;
  std::vector<ShardedModel> models;

  /// What all units take one after the other, without transfers.
  double getSeconds() const;
  /// No schedule is shorter, as a model's units follow each other: the longest
  /// model, or an equal share of all for each device.
  double getLowerBound() const;
  /// Whether any unit has bytes to move.
  bool hasTransfers() const;
};

/// Limits of files, so that each is simulated in seconds.
inline constexpr int64_t kMostScheduledDevices = 256;
inline constexpr int64_t kMostScheduledModels = 256;
inline constexpr int64_t kMostScheduledUnits = 1 << 17; ///< of all mini-batches

/// Reads a workload from JSON (docs/scheduling.md has the format). An error
/// says where in the text what was expected, and not which file it is.
llvm::Expected<MultiModelWorkload> readWorkload(llvm::StringRef text);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MULTIMODELWORKLOAD_H
