//===- SpillSimulation.h - Steps that move what doesn't fit -----*- C++ -*-===//
//
// Simulates a step that moves data between memory and store, as its schedule
// does. Tasks run one after the other: block by block, each block for all
// micro-batches, and all this for one turn of copies after the other. A block
// is updated right after its last backward and recomputed right before its
// backward. Fetches are in the order of their uses, each as early as memory
// allows; changed data are written right after the task. Whether there is
// memory depends on the order of tasks, and not on their times, as it does for
// the addresses in a real schedule. So times never change the peak.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILL_SPILLSIMULATION_H
#define HFTA_PLANNING_SPILL_SPILLSIMULATION_H

#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Spill/SpillPlan.h"

#include <limits>
#include <tuple>

namespace mlir::hfta::planning {

/// An unlimited budget.
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

/// One task, or one transfer, of a simulated step.
struct SpillEvent {
  SpillActivity activity = SpillActivity::forward;
  int64_t turn = 0;
  int64_t group = 0;
  int64_t microBatch = 0; ///< 0 for events that occur once per step
  double begin = 0, end = 0;
  int64_t bytes = 0; ///< bytes of a transfer

  /// Returns the key by which events are sorted.
  auto getRank() const {
    return std::make_tuple(begin, activity, end, turn, group, microBatch,
                           bytes);
  }
};

/// A simulated step.
struct SpillRun {
  double seconds = 0;
  /// The total time of tasks, of reads and of writes.
  double computeSeconds = 0, readSeconds = 0, writeSeconds = 0;
  int64_t readBytes = 0, writtenBytes = 0;
  int64_t peakBytes = 0;
  /// The peak if no fetch began before its data are used, and the group in
  /// which it occurs. No smaller budget is possible for the plan.
  int64_t leastBytes = 0;
  int64_t leastGroup = 0;
  std::vector<SpillEvent> events; ///< sorted by SpillEvent::getRank

  /// Returns a lower bound of the duration of any step with these tasks and
  /// transfers.
  double getLeastSeconds(const StoreRates &store) const;
};

/// Simulates a plan, which checkPlan must accept. The peak exceeds the budget
/// only if `leastBytes` does.
SpillRun simulateSpill(const SpillModel &model, const SpillPlan &plan,
                       int64_t budget = kEveryByte);

/// Draws the step with two rows: tasks, and below them reads and writes.
Timeline getTimeline(const SpillRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILL_SPILLSIMULATION_H
