//===- MultiModelSimulation.h - Schedules of several models -----*- C++ -*-===//
//
// Simulates a schedule of several models on several devices. A unit begins when
// its bytes have arrived, the previous unit of its model has ended, and the
// device is idle. Its results are written back afterwards, without delaying
// anything. With double buffering, a device chooses and fetches its next unit
// as soon as it begins one; otherwise it fetches, computes and writes in turn.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MODELS_MULTIMODELSIMULATION_H
#define HFTA_PLANNING_MODELS_MULTIMODELSIMULATION_H

#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Models/MultiModelWorkload.h"
#include "Hfta/Planning/Models/ShardScheduler.h"

#include <optional>

namespace mlir::hfta::planning {

/// A unit with its transfers. A transfer without bytes takes no time.
struct ScheduledUnit {
  unsigned device = 0;
  unsigned model = 0;
  int64_t number = 0; ///< index among the model's units of all mini-batches
  int64_t readBytes = 0;
  Interval fetch, compute, eviction;
};

struct MultiModelRun {
  /// When the last unit ends. Writing its bytes back takes longer.
  Ticks makespan = 0;
  int64_t readBytes = 0;
  std::vector<ScheduledUnit> units; ///< in the order of their beginnings
};

/// Simulates a workload, which must be valid, as those from readWorkload are.
MultiModelRun simulateModels(const MultiModelWorkload &workload,
                             ShardScheduler &scheduler);

/// Finds the shortest run that any scheduler can achieve, by branch and bound,
/// starting with the run `known`. Returns nothing if the workload is too large
/// for a proof that no run is shorter. For a workload without transfers, no
/// schedule of any kind is shorter. If `visited` isn't null, it is set to the
/// number of visited states.
std::optional<MultiModelRun> findBestRun(const MultiModelWorkload &workload,
                                         const MultiModelRun &known,
                                         int64_t *visited = nullptr);

/// The results of one scheduler.
struct ScheduleFigures {
  std::string name;
  bool isKnown = true;    ///< false if the workload is too large for it
  double makespan = 0;    ///< seconds
  double utilization = 0; ///< fraction of the time that devices compute
  int64_t readBytes = 0;
};

/// The results of all schedulers for one workload.
struct ScheduleComparison {
  double lowerBound = 0; ///< seconds
  /// The results of all schedulers in the order of SchedulerKind, then of
  /// "exact" (findBestRun), "model_parallel" (all units one after the other)
  /// and "gpipe" (all units in a pipeline over all devices, with four
  /// micro-batches). The last two are computed without transfers.
  std::vector<ScheduleFigures> schedules;
  MultiModelRun lrtf; ///< the run of the scheduler `lrtf`
};

ScheduleComparison compareSchedules(const MultiModelWorkload &workload);

/// Prints the comparison as a table for people.
void printComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);
/// Writes the comparison as JSON.
void writeComparison(const ScheduleComparison &comparison,
                     llvm::raw_ostream &os);

/// Draws a run with two rows per device: the units that it computes, and below
/// them its transfers.
Timeline getTimeline(const MultiModelWorkload &workload,
                     const MultiModelRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MODELS_MULTIMODELSIMULATION_H
