//===- SpillSchedule.h - The tasks of a step and what they touch -*- C++ -*-==//

#ifndef HFTA_LIB_PLANNING_SPILLSCHEDULE_H
#define HFTA_LIB_PLANNING_SPILLSCHEDULE_H

#include "Hfta/Planning/Simulator.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "SpillNeeds.h"

namespace mlir::hfta::planning {

struct SpillTask {
  SpillActivity activity = SpillActivity::forward;
  int64_t turn = 0, group = 0, microBatch = 0;
  Ticks ticks = 0;
};

/// From its first to its last task bytes lie in memory.
struct SpillSpan {
  int64_t first = 0, last = 0;
  int64_t bytes = 0;
  bool isRead = false;    ///< they come from the store
  bool isWritten = false; ///< they go to the store after the last task
  int64_t before = -1;    ///< the same object's last span
};

/// The tasks of a step, in order, and what lies in memory when, if nothing is
/// fetched before the task that needs it and nothing stays to be written.
class SpillSchedule {
public:
  SpillSchedule(const SpillModel &model, const SpillIndex &index,
                const SpillPlan &plan);

  /// With fetches as early as the budget allows; `events` get what happens.
  /// kNoTicks: what is being written doesn't fit for so many tasks.
  Ticks run(int64_t budget, int64_t writeWindow,
            std::vector<SpillEvent> *events = nullptr,
            int64_t *peak = nullptr) const;

  Ticks getTransferTicks(bool isWrite, int64_t bytes) const;
  /// No step with these tasks and transfers is shorter.
  Ticks getLeastTicks() const;

  const StoreRates store;
  std::vector<SpillTask> tasks;
  std::vector<SpillSpan> spans; ///< in the order of their first tasks
  /// Bytes that lie there while each task runs, and its peak.
  std::vector<int64_t> occupied;
  int64_t leastBytes = 0, leastGroup = 0;
  Ticks computeTicks = 0, readTicks = 0, writeTicks = 0;
  int64_t readBytes = 0, writtenBytes = 0;

  /// Of each span that is read, the task with which its fetch may begin; -1 of
  /// others. `occupied` is what lies there without fetches that begin early,
  /// and then with them. They begin in order, so that a larger budget lets none
  /// begin later.
  std::vector<int64_t> placeFetches(std::vector<int64_t> &occupied,
                                    int64_t budget, int64_t writeWindow) const;

private:
  friend class ScheduleBuilder;
};

inline constexpr Ticks kNoTicks = -1;

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLSCHEDULE_H
