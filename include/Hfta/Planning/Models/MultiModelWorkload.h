//===- MultiModelWorkload.h - Models that share devices ---------*- C++ -*-===//
//
// Several models, each too large for a device, are divided into shards, which
// take turns on the devices. Training on one mini-batch is a chain of units:
// each transfers a shard and its input to a device, computes, and writes back
// the changes. HYDRA schedules such workloads (Nagrecha and Kumar, 2021).
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MODELS_MULTIMODELWORKLOAD_H
#define HFTA_PLANNING_MODELS_MULTIMODELWORKLOAD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

enum class UnitKind : uint8_t {
  forward,
  loss,    ///< forward, loss and backward of the last shard
  backward ///< backward, after a recomputation of the forward
};
/// Returns the kind as in files: "f", "fl" or "b".
llvm::StringRef getName(UnitKind kind);

/// One computation of a shard on a device.
struct ShardUnit {
  UnitKind kind = UnitKind::forward;
  int64_t shard = 0; ///< index among the model's shards
  double seconds = 0;
  int64_t bytesIn = 0;  ///< bytes to transfer to the device before the unit
  int64_t bytesOut = 0; ///< bytes to transfer from the device after the unit
  /// The part of `bytesIn` that is the shard itself. It isn't transferred again
  /// if the device still has the shard.
  int64_t shardBytes = 0;

  /// Returns whether the unit changes the shard, so that copies on other
  /// devices are out of date.
  bool changesShard() const { return kind != UnitKind::forward; }
};

struct ShardedModel {
  std::string name;
  int64_t batches = 1;
  std::vector<ShardUnit> units; ///< the units of one mini-batch, in order

  double getBatchSeconds() const;
  /// Returns the seconds of all mini-batches.
  double getSeconds() const;
  int64_t getUnitCount() const;
};

/// The models to train, and the devices, which are all equal. Each device has a
/// channel for reading and a channel for writing.
struct MultiModelWorkload {
  int64_t devices = 1;
  double readBytesPerSecond = 1;
  double writeBytesPerSecond = 1;
  /// Whether a device fetches the next unit while it computes one (double
  /// buffering).
  bool doubleBuffer = true;
  std::vector<ShardedModel> models;

  /// Returns the seconds of all units one after the other, without transfers.
  double getSeconds() const;
  /// Returns a lower bound of the duration of any schedule. It is the duration
  /// of the longest model, whose units run one after the other, or the total
  /// time of all units divided by the number of devices, if that is longer.
  double getLowerBound() const;
  /// Returns whether any unit has bytes to transfer.
  bool hasTransfers() const;
};

/// Limits of workloads, with which a simulation takes seconds.
inline constexpr int64_t kMostScheduledDevices = 256;
inline constexpr int64_t kMostScheduledModels = 256;
/// The largest number of units over all models and mini-batches.
inline constexpr int64_t kMostScheduledUnits = 1 << 17;

/// Reads a workload from JSON (the format is in docs/scheduling.md). The error
/// states the place in the text and what was expected there, but not the name
/// of the file.
llvm::Expected<MultiModelWorkload> readWorkload(llvm::StringRef text);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MODELS_MULTIMODELWORKLOAD_H
