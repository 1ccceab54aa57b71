//===- ShardScheduler.h - The choice of a device's next model ---*- C++ -*-===//
//
// Decides which of several models each of several devices computes next,
// independently of the caller that carries out the decisions: an event
// simulator or a runtime. The caller describes its state and asks for a
// decision. Schedulers store no times, so that measured times can replace
// estimates at any moment.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MODELS_SHARDSCHEDULER_H
#define HFTA_PLANNING_MODELS_SHARDSCHEDULER_H

#include "Hfta/Planning/Common/Simulator.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace mlir::hfta::planning {

/// The state on which a scheduler's decision is based. Models and devices are
/// numbered from 0.
class SchedulingState {
public:
  virtual ~SchedulingState() = default;
  virtual unsigned getModelCount() const = 0;
  virtual unsigned getDeviceCount() const = 0;
  /// Returns the number of units of all models that haven't begun.
  virtual int64_t getUnbegun() const = 0;

  // Returns the models that have units left, none of which is running or being
  // fetched, in ascending order.
  virtual llvm::ArrayRef<unsigned> getIdle() const = 0;
  /// Returns the number of units of the model that haven't begun.
  virtual int64_t getUnitsLeft(unsigned model) const = 0;
  /// Returns the duration of a unit of the model that hasn't begun: of the next
  /// one if `behind` is 0, else of the one `behind` units later.
  virtual Ticks getUnit(unsigned model, int64_t behind) const = 0;
  /// Returns the total duration of the model's units that haven't begun.
  virtual Ticks getRemaining(unsigned model) const = 0;
  /// Returns the same duration, except that a mini-batch that has begun counts
  /// completely.
  virtual Ticks getRemainingBatches(unsigned model) const = 0;
  /// Returns the duration of all units of one mini-batch.
  virtual Ticks getBatch(unsigned model) const = 0;
  /// Returns the time for reading all bytes of the units of one mini-batch.
  virtual Ticks getBatchFetch(unsigned model) const = 0;
  /// Returns when the running unit of the model ends, or the current time if
  /// none is running.
  virtual Ticks getReady(unsigned model) const = 0;

  // Returns the model that the device is running, or kNone.
  virtual unsigned getRunning(unsigned device) const = 0;
  /// Returns the model that the device ran before that, or kNone.
  virtual unsigned getLast(unsigned device) const = 0;
  /// Returns the model that the device has fetched or is fetching next, or
  /// kNone.
  virtual unsigned getNext(unsigned device) const = 0;
  /// Returns when the running unit of the device ends, or the current time if
  /// none is running.
  virtual Ticks getFree(unsigned device) const = 0;

  // Returns the time for reading the bytes of the model's next unit to the
  // device.
  virtual Ticks getFetch(unsigned model, unsigned device) const = 0;
  /// Returns whether the device has the shard of the model's next unit.
  virtual bool holdsShard(unsigned model, unsigned device) const = 0;
};

/// Decides which model's next unit a device fetches.
class ShardScheduler {
public:
  virtual ~ShardScheduler() = default;
  /// Chooses a model for a device that has no next unit: one of the idle
  /// models, or the one that is running on this device if it has units left.
  /// kNone means that the device waits; it asks again when the next unit ends
  /// anywhere. A device that isn't running a unit must be given a model if
  /// there is one.
  virtual unsigned choose(const SchedulingState &state, unsigned device) = 0;
  /// Returns whether a device that already has a shard uses it without reading
  /// it again.
  virtual bool reusesShards() const { return false; }
};

enum class SchedulerKind : uint8_t {
  lrtf,  ///< longest remaining time first, preferring shards on the device
  hydra, ///< HYDRA's Sharded-LRTF
  fifo,  ///< the first idle model of the list
  srtf,  ///< shortest remaining time first
  random ///< a random model, with a fixed seed
};
inline constexpr SchedulerKind kSchedulerKinds[] = {
    SchedulerKind::lrtf, SchedulerKind::hydra, SchedulerKind::fifo,
    SchedulerKind::srtf, SchedulerKind::random};
llvm::StringRef getName(SchedulerKind kind);

/// Makes a scheduler in its initial state.
std::unique_ptr<ShardScheduler> makeScheduler(SchedulerKind kind);

/// Makes a variant of HYDRA's scheduler that counts remaining time in whole
/// mini-batches.
std::unique_ptr<ShardScheduler> makeBatchwiseHydra();

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MODELS_SHARDSCHEDULER_H
