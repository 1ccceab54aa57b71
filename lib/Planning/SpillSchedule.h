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

/// Bytes that lie in memory from their first to their last task.
struct SpillSpan {
  int64_t first = 0, last = 0;
  int64_t bytes = 0;
  bool isRead = false;    ///< whether they come from the store
  bool isWritten = false; ///< whether they go to the store after the last task
  int64_t before = -1;    ///< the previous span of the object
};

/// The tasks of a step, in order, and the memory in use during each, if nothing
/// is fetched before the task that needs it and written bytes leave at once.
class SpillSchedule {
public:
  SpillSchedule(const SpillModel &model, const SpillIndex &index,
                const SpillPlan &plan);

  /// Runs the schedule with fetches as early as the budget allows, and adds
  /// what happens to `events`. Returns kNoTicks if bytes that are being written
  /// don't fit for `writeWindow` tasks.
  Ticks run(int64_t budget, int64_t writeWindow,
            std::vector<SpillEvent> *events = nullptr,
            int64_t *peak = nullptr) const;

  Ticks getTransferTicks(bool isWrite, int64_t bytes) const;
  /// Returns a lower bound for steps with these tasks and transfers.
  Ticks getLeastTicks() const;

  const StoreRates store;
  std::vector<SpillTask> tasks;
  std::vector<SpillSpan> spans; ///< in the order of their first tasks
  /// The bytes in memory while each task runs, and their peak.
  std::vector<int64_t> occupied;
  int64_t leastBytes = 0, leastGroup = 0;
  Ticks computeTicks = 0, readTicks = 0, writeTicks = 0;
  int64_t readBytes = 0, writtenBytes = 0;

  /// Returns for each span that is read the task with which its fetch may
  /// begin; -1 for other spans. `occupied` is the memory in use without early
  /// fetches, and afterwards with them. Fetches begin in order, so that a
  /// larger budget lets none begin later.
  std::vector<int64_t> placeFetches(std::vector<int64_t> &occupied,
                                    int64_t budget, int64_t writeWindow) const;

private:
  friend class ScheduleBuilder;
};

inline constexpr Ticks kNoTicks = -1;

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLSCHEDULE_H
