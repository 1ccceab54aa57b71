//===- SpillSimulation.h - Steps that move what doesn't fit -----*- C++ -*-===//
//
// A step as a schedule has it: tasks one after the other, block by block with
// all micro-batches, and copies in turns. A block is updated right after its
// last backward, and recomputation comes right before its backward. Fetches go
// in the order of their uses, each as early as memory allows; what has changed
// is written right after the task. The order of tasks decides whether there is
// memory, as it decides addresses, so that no timing changes the peak.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILLSIMULATION_H
#define HFTA_PLANNING_SPILLSIMULATION_H

#include "Hfta/Planning/SpillPlan.h"
#include "Hfta/Planning/Timeline.h"

#include <limits>
#include <tuple>

namespace mlir::hfta::planning {

/// A budget that nothing exceeds.
inline constexpr int64_t kEveryByte = std::numeric_limits<int64_t>::max();

enum class SpillActivity : uint8_t {
  forward,
  recompute,
  backward,
  update,
  other,
  read,
  write
};
llvm::StringRef getName(SpillActivity activity);

struct SpillEvent {
  SpillActivity activity = SpillActivity::forward;
  int64_t turn = 0;
  int64_t group = 0;
  int64_t microBatch = 0; ///< 0 for what happens once a step
  double begin = 0, end = 0;
  int64_t bytes = 0; ///< bytes that are moved

  auto getRank() const {
    return std::make_tuple(begin, activity, end, turn, group, microBatch,
                           bytes);
  }
};

struct SpillRun {
  double seconds = 0;
  /// The time that the device and each channel would take if they never waited.
  double computeSeconds = 0, readSeconds = 0, writeSeconds = 0;
  int64_t readBytes = 0, writtenBytes = 0;
  int64_t peakBytes = 0;
  /// The peak if no fetch begins before its use, and the group that needs it.
  int64_t leastBytes = 0;
  int64_t leastGroup = 0;
  std::vector<SpillEvent> events; ///< in the order of their beginnings

  /// Returns a lower bound for steps with these tasks and transfers.
  double getLeastSeconds(const StoreRates &store) const;
};

/// Simulates a plan that checkPlan accepts. If `leastBytes` is more than the
/// budget, so is the peak.
SpillRun simulateSpill(const SpillModel &model, const SpillPlan &plan,
                       int64_t budget = kEveryByte);

/// Draws a row of computations, with what is read and written below it.
Timeline getTimeline(const SpillRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLSIMULATION_H
