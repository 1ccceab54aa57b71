//===- ShardScheduler.h - Which model a device serves next ------*- C++ -*-===//
//
// The decisions of schedules of several models on several devices, apart from
// what carries them out: a simulator's loop of events, or a runtime. The one
// who carries them out describes its state and asks; schedulers keep no times
// of their own, so that measured ones may take the place of estimates at any
// moment.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SHARDSCHEDULER_H
#define HFTA_PLANNING_SHARDSCHEDULER_H

#include "Hfta/Planning/Simulator.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace mlir::hfta::planning {

/// What a scheduler sees when it is asked. Models and devices are numbers.
class SchedulingState {
public:
  virtual ~SchedulingState() = default;
  virtual unsigned getModelCount() const = 0;
  virtual unsigned getDeviceCount() const = 0;
  /// Of all models together: units that haven't begun.
  virtual int64_t getUnbegun() const = 0;

  // Of models.
  /// Those that have units left, of which none runs and none is fetched for a
  /// device, in the order of their numbers.
  virtual llvm::ArrayRef<unsigned> getIdle() const = 0;
  /// How many units haven't begun.
  virtual int64_t getUnitsLeft(unsigned model) const = 0;
  /// What the unit that is so many behind the next one takes.
  virtual Ticks getUnit(unsigned model, int64_t behind) const = 0;
  /// Of the units that haven't begun.
  virtual Ticks getRemaining(unsigned model) const = 0;
  /// The same, but all of a mini-batch that has begun.
  virtual Ticks getRemainingBatches(unsigned model) const = 0;
  /// What the units of a mini-batch take.
  virtual Ticks getBatch(unsigned model) const = 0;
  /// What reading all bytes of these units takes.
  virtual Ticks getBatchFetch(unsigned model) const = 0;
  /// When the unit that runs ends; now if none does.
  virtual Ticks getReady(unsigned model) const = 0;

  // Of devices.
  /// The model that runs, or kNone.
  virtual unsigned getRunning(unsigned device) const = 0;
  /// The model that ran before this one, or kNone.
  virtual unsigned getLast(unsigned device) const = 0;
  /// The model that is fetched, or kNone.
  virtual unsigned getNext(unsigned device) const = 0;
  /// When what runs ends; now if nothing does.
  virtual Ticks getFree(unsigned device) const = 0;

  // Of the model's next unit on a device.
  /// What reading its bytes takes.
  virtual Ticks getFetch(unsigned model, unsigned device) const = 0;
  /// Whether the device holds its shard.
  virtual bool holdsShard(unsigned model, unsigned device) const = 0;
};

/// Decides which model's next unit a device fetches.
class ShardScheduler {
public:
  virtual ~ShardScheduler() = default;
  /// Of a device that has nothing fetched: one of the idle models, or the one
  /// that runs on it where that has units left. kNone: nothing yet; it is asked
  /// again as soon as a unit has ended. A device that runs nothing must be
  /// given one if there is any.
  virtual unsigned choose(const SchedulingState &state, unsigned device) = 0;
  /// Whether a shard that is on the device already is used, not read again.
  virtual bool reusesShards() const { return false; }
};

enum class SchedulerKind : uint8_t {
  lrtf,  ///< longest remaining time first, with regard to what devices hold
  hydra, ///< HYDRA's Sharded-LRTF
  fifo,  ///< the first one of the list
  srtf,  ///< shortest remaining time first
  random ///< with a fixed seed
};
inline constexpr SchedulerKind kSchedulerKinds[] = {
    SchedulerKind::lrtf, SchedulerKind::hydra, SchedulerKind::fifo,
    SchedulerKind::srtf, SchedulerKind::random};
llvm::StringRef getName(SchedulerKind kind);

/// A scheduler at its beginning.
std::unique_ptr<ShardScheduler> makeScheduler(SchedulerKind kind);

/// HYDRA's, which counts the remaining time by whole mini-batches.
std::unique_ptr<ShardScheduler> makeBatchwiseHydra();

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SHARDSCHEDULER_H
