//===- ShardScheduler.h - The choice of a device's next model ---*- C++ -*-===//
//
// The decisions of schedules of several models on several devices, separate
// from what carries them out: an event simulator, or a runtime. The caller
// describes its state and asks for a decision; schedulers keep no times of
// their own, so that measured times may replace estimates at any moment.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SHARDSCHEDULER_H
#define HFTA_PLANNING_SHARDSCHEDULER_H

#include "Hfta/Planning/Simulator.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace mlir::hfta::planning {

/// The state that a scheduler sees when it is asked. Models and devices are
/// numbers.
class SchedulingState {
public:
  virtual ~SchedulingState() = default;
  virtual unsigned getModelCount() const = 0;
  virtual unsigned getDeviceCount() const = 0;
  /// Returns the units of all models together that haven't begun.
  virtual int64_t getUnbegun() const = 0;

  // Queries about models.
  /// Returns the models that have units left, none of which runs or is being
  /// fetched for a device, in the order of their numbers.
  virtual llvm::ArrayRef<unsigned> getIdle() const = 0;
  /// Returns how many units haven't begun.
  virtual int64_t getUnitsLeft(unsigned model) const = 0;
  /// Returns the time of a unit that hasn't begun: the next one, or the one
  /// that follows it `behind` units later.
  virtual Ticks getUnit(unsigned model, int64_t behind) const = 0;
  /// Returns the time of all units that haven't begun.
  virtual Ticks getRemaining(unsigned model) const = 0;
  /// Returns the remaining time, but counts a mini-batch that has begun in
  /// full.
  virtual Ticks getRemainingBatches(unsigned model) const = 0;
  /// Returns the time of the units of one mini-batch.
  virtual Ticks getBatch(unsigned model) const = 0;
  /// Returns the time for reading all bytes of one mini-batch's units.
  virtual Ticks getBatchFetch(unsigned model) const = 0;
  /// Returns when the running unit ends; the current time if none runs.
  virtual Ticks getReady(unsigned model) const = 0;

  // Queries about devices.
  /// Returns the model that runs, or kNone.
  virtual unsigned getRunning(unsigned device) const = 0;
  /// Returns the model that ran before this one, or kNone.
  virtual unsigned getLast(unsigned device) const = 0;
  /// Returns the model that is being fetched, or kNone.
  virtual unsigned getNext(unsigned device) const = 0;
  /// Returns when the running unit ends; the current time if none runs.
  virtual Ticks getFree(unsigned device) const = 0;

  // Queries about a model's next unit on a device.
  /// Returns the time for reading the unit's bytes.
  virtual Ticks getFetch(unsigned model, unsigned device) const = 0;
  /// Returns whether the device holds the unit's shard.
  virtual bool holdsShard(unsigned model, unsigned device) const = 0;
};

/// Decides which model's next unit a device fetches.
class ShardScheduler {
public:
  virtual ~ShardScheduler() = default;
  /// Chooses a model for a device that has nothing fetched: one of the idle
  /// models, or the one that runs on it if that has units left. kNone: nothing
  /// yet; the device asks again as soon as a unit has ended. A device that runs
  /// nothing must be given a model if there is any.
  virtual unsigned choose(const SchedulingState &state, unsigned device) = 0;
  /// Returns whether a shard that is already on the device is used without
  /// reading it again.
  virtual bool reusesShards() const { return false; }
};

enum class SchedulerKind : uint8_t {
  lrtf,  ///< longest remaining time first, considering what devices hold
  hydra, ///< HYDRA's Sharded-LRTF
  fifo,  ///< the first model of the list
  srtf,  ///< shortest remaining time first
  random ///< with a fixed seed
};
inline constexpr SchedulerKind kSchedulerKinds[] = {
    SchedulerKind::lrtf, SchedulerKind::hydra, SchedulerKind::fifo,
    SchedulerKind::srtf, SchedulerKind::random};
llvm::StringRef getName(SchedulerKind kind);

/// Makes a scheduler in its initial state.
std::unique_ptr<ShardScheduler> makeScheduler(SchedulerKind kind);

/// Makes HYDRA's scheduler that counts the remaining time in whole
/// mini-batches.
std::unique_ptr<ShardScheduler> makeBatchwiseHydra();

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SHARDSCHEDULER_H
