//===- ShardEngine.h - The events on several devices ------------*- C++ -*-===//
//
// The event loop of several models' units on several devices. It stops whenever
// a device may be given a unit, and continues with the caller's answer. So a
// scheduler can drive it from outside, and a search can copy it and try several
// answers.
//
// It doesn't use Simulation of Simulator.h, which must know the bytes and the
// channel of each message in advance. Here both depend on the device that a
// unit is given to, and on what that device holds at this time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_PLANNING_MODELS_SHARDENGINE_H
#define HFTA_LIB_PLANNING_MODELS_SHARDENGINE_H

#include "Hfta/Planning/Models/MultiModelSimulation.h"

#include <array>

namespace mlir::hfta::planning {

/// The times of a workload in whole picoseconds.
struct ShardTimes {
  struct Unit {
    Ticks compute = 0;
    Ticks eviction = 0;
    Ticks before = 0; ///< total of the mini-batch's earlier units
  };
  struct Model {
    std::vector<Unit> units;
    Ticks batch = 0, batchFetch = 0;
  };

  explicit ShardTimes(const MultiModelWorkload &workload);

  Ticks getFetch(int64_t bytes) const {
    return toTicks(static_cast<double>(bytes) / workload->readBytesPerSecond);
  }

  const MultiModelWorkload *workload;
  std::vector<Model> models;
};

class ShardEngine final : public SchedulingState {
public:
  ShardEngine(const ShardTimes &times, bool reusesShards);

  /// Continues until a device may be given a unit, and returns the device;
  /// kNone if nothing more happens.
  unsigned advance();
  /// Gives a model's unit to the device that advance() has returned.
  void answer(unsigned device, unsigned model);

  Ticks getNow() const { return now; }
  /// Returns the latest end of the units that have begun.
  Ticks getLastEnd() const { return lastEnd; }
  int64_t getReadBytes() const { return readBytes; }
  int64_t getBegun(unsigned model) const { return models[model].begun; }
  /// Sets the list in which units are recorded; null to record none.
  void setTrace(std::vector<ScheduledUnit> *units) { trace = units; }
  /// Returns everything that the future depends on, with times relative to now,
  /// while device `asking` may be given a unit. States with equal keys have
  /// equal futures, even if devices are permuted.
  std::vector<int64_t> getKey(unsigned asking) const;

  unsigned getModelCount() const override { return models.size(); }
  unsigned getDeviceCount() const override { return devices.size(); }
  int64_t getUnbegun() const override { return unbegun; }
  llvm::ArrayRef<unsigned> getIdle() const override { return idle; }
  int64_t getUnitsLeft(unsigned model) const override;
  Ticks getUnit(unsigned model, int64_t behind) const override;
  Ticks getRemaining(unsigned model) const override;
  Ticks getRemainingBatches(unsigned model) const override;
  Ticks getBatch(unsigned model) const override {
    return times->models[model].batch;
  }
  Ticks getBatchFetch(unsigned model) const override {
    return times->models[model].batchFetch;
  }
  Ticks getReady(unsigned model) const override;
  unsigned getRunning(unsigned device) const override {
    return devices[device].running;
  }
  unsigned getLast(unsigned device) const override {
    return devices[device].last;
  }
  unsigned getNext(unsigned device) const override {
    return devices[device].next;
  }
  Ticks getFree(unsigned device) const override;
  Ticks getFetch(unsigned model, unsigned device) const override;
  bool holdsShard(unsigned model, unsigned device) const override {
    return findPlace(model, device) >= 0;
  }

private:
  /// The content of a place for one shard in a device's memory. It is useless
  /// once the model has a newer version of the shard.
  struct Place {
    unsigned model = kNone;
    int64_t shard = 0;
    int64_t version = 0;
  };
  struct Device {
    unsigned running = kNone, last = kNone;
    Ticks end = 0; ///< when the running unit ends
    unsigned next = kNone;
    Interval fetch;         ///< when the next unit's shard is fetched
    int64_t fetchBytes = 0; ///< bytes of this fetch
    int nextPlace = 0, place = 0;
    Ticks evicted = 0; ///< when its last evicted bytes have left
    /// Whether no answer was given since the last event.
    bool mayBeAsked = true;
    /// The second place is unused without double buffering.
    std::array<Place, 2> places;
  };
  struct Model {
    int64_t begun = 0;             ///< number of units that have begun
    unsigned runs = kNone;         ///< the device that runs a unit of it
    std::vector<int64_t> versions; ///< present version of each shard
  };

  bool hasUnits(unsigned model) const { return getUnitsLeft(model) > 0; }
  const ShardUnit &getNextUnit(unsigned model) const;
  int64_t getBytes(unsigned model, unsigned device) const;
  int findPlace(unsigned model, unsigned device) const;
  bool isFree(const Device &device) const;
  void begin(unsigned device);
  void end(unsigned device);
  bool beginUnits();
  unsigned findAsking() const;
  bool goOn();

  const ShardTimes *times;
  bool isReusing, isBuffered;
  std::vector<Device> devices;
  std::vector<Model> models;
  std::vector<unsigned> idle;
  Ticks now = 0, lastEnd = 0;
  int64_t unbegun = 0, readBytes = 0;
  std::vector<ScheduledUnit> *trace = nullptr;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_MODELS_SHARDENGINE_H
