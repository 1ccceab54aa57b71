//===- MultiModelWorkload.h - Models that share devices ---------*- C++ -*-===//
//
// Several models, each too large for a device, whose shards take turns on the
// devices. Training one mini-batch is a chain of units: each brings a shard and
// its input to a device, computes, and writes back what has changed. HYDRA
// schedules such workloads (Nagrecha and Kumar, 2021).
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
  loss,    ///< on the last shard: forward, loss and backward in one
  backward ///< recomputes its forward first
};
/// Returns the kind as files write it: "f", "fl" or "b".
llvm::StringRef getName(UnitKind kind);

/// The turn of a shard on a device.
struct ShardUnit {
  UnitKind kind = UnitKind::forward;
  int64_t shard = 0; ///< counts the model's shards, from 0
  double seconds = 0;
  int64_t bytesIn = 0;  ///< bytes that must be there before it begins
  int64_t bytesOut = 0; ///< bytes that leave the device after it
  /// The part of bytesIn that is the shard itself, which isn't read again where
  /// the device already holds it.
  int64_t shardBytes = 0;

  /// Returns whether other copies of the shard are out of date afterwards.
  bool changesShard() const { return kind != UnitKind::forward; }
};

struct ShardedModel {
  std::string name;
  int64_t batches = 1;
  std::vector<ShardUnit> units; ///< the units of a mini-batch, in order

  double getBatchSeconds() const;
  /// Returns the seconds of all mini-batches.
  double getSeconds() const;
  int64_t getUnitCount() const;
};

/// Equal devices, each with an input channel and an output channel, and the
/// models that they train.
struct MultiModelWorkload {
  int64_t devices = 1;
  double readBytesPerSecond = 1;
  double writeBytesPerSecond = 1;
  /// Whether a device fetches the next unit while one is computed.
  bool doubleBuffer = true;
  std::vector<ShardedModel> models;

  /// Returns the seconds of all units one after the other, without transfers.
  double getSeconds() const;
  /// Returns a lower bound of any schedule's length: the longest model, since a
  /// model's units follow each other, or an equal share of all units for each
  /// device.
  double getLowerBound() const;
  /// Returns whether any unit has bytes to move.
  bool hasTransfers() const;
};

/// Limits of files, so that each is simulated in seconds.
inline constexpr int64_t kMostScheduledDevices = 256;
inline constexpr int64_t kMostScheduledModels = 256;
/// The limit of units, over all mini-batches.
inline constexpr int64_t kMostScheduledUnits = 1 << 17;

/// Reads a workload from JSON (docs/scheduling.md has the format). An error
/// states the place in the text and what was expected there, but not the file's
/// name.
llvm::Expected<MultiModelWorkload> readWorkload(llvm::StringRef text);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MULTIMODELWORKLOAD_H
