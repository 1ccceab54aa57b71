//===- MultiModelSimulation.h - Schedules of several models -----*- C++ -*-===//
//
// Simulates a schedule of several models on several devices. A unit begins when
// its bytes have arrived, its model's last unit has ended and the device is
// free; its bytes leave after it and hold nothing back. With double buffering,
// a device chooses and fetches its next unit as soon as one begins; without, it
// fetches, computes and writes strictly in turn.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MULTIMODELSIMULATION_H
#define HFTA_PLANNING_MULTIMODELSIMULATION_H

#include "Hfta/Planning/MultiModelWorkload.h"
#include "Hfta/Planning/ShardScheduler.h"
#include "Hfta/Planning/Timeline.h"

#include <optional>

namespace mlir::hfta::planning {

/// A unit with its transfers; transfers of no bytes begin and end at once.
struct ScheduledUnit {
  unsigned device = 0;
  unsigned model = 0;
  int64_t number = 0; ///< counts the model's units of all mini-batches
  int64_t readBytes = 0;
  Interval fetch, compute, eviction;
};

struct MultiModelRun {
  /// When the last unit ends; writing its bytes still takes a while after that.
  Ticks makespan = 0;
  int64_t readBytes = 0;
  std::vector<ScheduledUnit> units; ///< in the order of their beginnings
};

/// Simulates a workload that readWorkload has checked.
MultiModelRun simulateModels(const MultiModelWorkload &workload,
                             ShardScheduler &scheduler);

/// Finds the shortest run that any scheduler's answers can give, by branch and
/// bound. It begins with a known run, and returns nothing where the workload is
/// too large to prove that no run is shorter. Without transfers no schedule of
/// any kind is shorter. `visited`, if given, receives the number of states.
std::optional<MultiModelRun> findBestRun(const MultiModelWorkload &workload,
                                         const MultiModelRun &known,
                                         int64_t *visited = nullptr);

/// The reported figures of a scheduler.
struct ScheduleFigures {
  std::string name;
  bool isKnown = true;    ///< false: the workload is too large
  double makespan = 0;    ///< seconds
  double utilization = 0; ///< computing time as a share of all devices' time
  int64_t readBytes = 0;
};

struct ScheduleComparison {
  double lowerBound = 0; ///< seconds
  /// All of SchedulerKind, then "exact", "model_parallel" (all units one after
  /// the other) and "gpipe" (all units in a pipeline of all devices with four
  /// micro-batches); the last two without any transfer.
  std::vector<ScheduleFigures> schedules;
  MultiModelRun lrtf; ///< the run of the first scheduler
};

ScheduleComparison compareSchedules(const MultiModelWorkload &workload);

/// Prints a table for people.
void printComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);
/// Writes the comparison as JSON.
void writeComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);

/// Draws one row per device: what it computes, with what it reads and writes
/// below.
Timeline getTimeline(const MultiModelWorkload &workload,
                     const MultiModelRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MULTIMODELSIMULATION_H
