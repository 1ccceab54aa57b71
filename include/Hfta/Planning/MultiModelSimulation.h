//===- MultiModelSimulation.h - Schedules of several models -----*- C++ -*-===//
//
// What a schedule of several models on several devices takes. A unit begins
// when its bytes have come, its model's last unit has ended and the device is
// free; its bytes leave after it and hold nothing back. With double buffering
// a device chooses and fetches its next unit from when one begins; without, it
// fetches, computes and writes strictly in turn.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MULTIMODELSIMULATION_H
#define HFTA_PLANNING_MULTIMODELSIMULATION_H

#include "Hfta/Planning/MultiModelWorkload.h"
#include "Hfta/Planning/ShardScheduler.h"
#include "Hfta/Planning/Timeline.h"

#include <optional>

namespace mlir::hfta::planning {

/// A unit with its transfers; those of no bytes begin and end at once.
struct ScheduledUnit {
  unsigned device = 0;
  unsigned model = 0;
  int64_t number = 0; ///< of the model's units of all mini-batches
  int64_t readBytes = 0;
  Interval fetch, compute, eviction;
};

struct MultiModelRun {
  /// When the last unit ends; what is written then still takes a while.
  Ticks makespan = 0;
  int64_t readBytes = 0;
  std::vector<ScheduledUnit> units; ///< in the order of their beginnings
};

/// Of a workload as readWorkload checks it.
MultiModelRun simulateModels(const MultiModelWorkload &workload,
                             ShardScheduler &scheduler);

/// The best of all that a scheduler may answer, by branch and bound. Begins
/// with a run that is known, and returns nothing where the workload is too
/// large to prove that there is no shorter one. Without transfers no schedule
/// at all is shorter. `visited`, if given, is the number of states.
std::optional<MultiModelRun> findBestRun(const MultiModelWorkload &workload,
                                         const MultiModelRun &known,
                                         int64_t *visited = nullptr);

/// What is told of a scheduler.
struct ScheduleFigures {
  std::string name;
  bool isKnown = true;    ///< false: the workload is too large
  double makespan = 0;    ///< seconds
  double utilization = 0; ///< computing, of all devices' time
  int64_t readBytes = 0;
};

struct ScheduleComparison {
  double lowerBound = 0; ///< seconds
  /// All of SchedulerKind, then "exact", "model_parallel" (all units one after
  /// the other) and "gpipe" (these in a pipeline of all devices with four
  /// micro-batches); the last two without any transfer.
  std::vector<ScheduleFigures> schedules;
  MultiModelRun lrtf; ///< the run of the first one
};

ScheduleComparison compareSchedules(const MultiModelWorkload &workload);

/// A table for people.
void printComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);
/// The same as JSON.
void writeComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);

/// A row a device: what is computed, with what is read and written under it.
Timeline getTimeline(const MultiModelWorkload &workload,
                     const MultiModelRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MULTIMODELSIMULATION_H
