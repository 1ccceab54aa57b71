//===- SpillSimulation.h - Steps that move what doesn't fit -----*- C++ -*-===//
//
// A step as a schedule has it: tasks one after the other, block by block with
// all micro-batches, copies in turns; a block is updated right after its last
// backward, and what is computed again is right before its backward. Fetches go
// in the order of their uses, each as early as memory allows; what was changed
// is written right after the task. Whether there is memory is decided by the
// order of tasks, as addresses are, so that no timing changes the peak.
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
  int64_t microBatch = 0; ///< 0 of what is a step's
  double begin = 0, end = 0;
  int64_t bytes = 0; ///< that are moved

  auto getRank() const {
    return std::make_tuple(begin, activity, end, turn, group, microBatch,
                           bytes);
  }
};

struct SpillRun {
  double seconds = 0;
  /// What the device and the channels would take, were each alone.
  double computeSeconds = 0, readSeconds = 0, writeSeconds = 0;
  int64_t readBytes = 0, writtenBytes = 0;
  int64_t peakBytes = 0;
  /// Without any fetch before its use is due, and the group that needs it.
  int64_t leastBytes = 0;
  int64_t leastGroup = 0;
  std::vector<SpillEvent> events; ///< in the order of their beginnings

  /// No step with these tasks and transfers is shorter.
  double getLeastSeconds(const StoreRates &store) const;
};

/// Of a plan that checkPlan finds no fault with. Where `leastBytes` is more
/// than the budget, so is the peak.
SpillRun simulateSpill(const SpillModel &model, const SpillPlan &plan,
                       int64_t budget = kEveryByte);

/// A row of what is computed, with what is read and written under it.
Timeline getTimeline(const SpillRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLSIMULATION_H
