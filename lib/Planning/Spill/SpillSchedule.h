//===- SpillSchedule.h - The tasks of a step and what they touch -*- C++ -*-==//

#ifndef HFTA_LIB_PLANNING_SPILL_SPILLSCHEDULE_H
#define HFTA_LIB_PLANNING_SPILL_SPILLSCHEDULE_H

#include "Hfta/Planning/Common/Simulator.h"
#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Spill/SpillNeeds.h"

namespace mlir::hfta::planning {

struct SpillTask {
  SpillActivity activity = SpillActivity::forward;
  int64_t turn = 0, group = 0, microBatch = 0;
  Ticks ticks = 0;
};

/// Bytes of an object that are in memory from task `first` to task `last`.
struct SpillSpan {
  int64_t first = 0, last = 0;
  int64_t bytes = 0;
  bool isRead = false;    ///< read from the store for task `first`
  bool isWritten = false; ///< written to the store after task `last`
  int64_t before = -1;    ///< the object's previous span; -1 if none
};

/// The tasks of a step, in order, and the memory in use during each, if fetches
/// don't begin before the task that needs their bytes, and written bytes leave
/// memory at once.
class SpillSchedule {
public:
  SpillSchedule(const SpillModel &model, const SpillIndex &index,
                const SpillPlan &plan);

  /// Simulates the schedule, with fetches as early as `budget` (bytes) allows,
  /// and returns the time of the step. Bytes that are being written occupy
  /// memory for up to `writeWindow` more tasks; returns kNoTicks if these don't
  /// fit. Appends what happens to `events`, and sets `peak` to the most bytes
  /// in use, unless they are null.
  Ticks run(int64_t budget, int64_t writeWindow,
            std::vector<SpillEvent> *events = nullptr,
            int64_t *peak = nullptr) const;

  Ticks getTransferTicks(bool isWrite, int64_t bytes) const;
  /// Returns a lower bound for the time of a step with these tasks and
  /// transfers.
  Ticks getLeastTicks() const;

  const StoreRates store;
  std::vector<SpillTask> tasks;
  std::vector<SpillSpan> spans; ///< in the order of their first tasks
  /// The bytes in memory while each task runs, their maximum, and the group of
  /// the task with the maximum.
  std::vector<int64_t> occupied;
  int64_t leastBytes = 0, leastGroup = 0;
  Ticks computeTicks = 0, readTicks = 0, writeTicks = 0;
  int64_t readBytes = 0, writtenBytes = 0;

  /// Returns, for each span that is read, the task with which its fetch may
  /// begin, and -1 for other spans. `occupied` is the memory in use without
  /// early fetches, and is changed to that with them. Fetches keep their order,
  /// so that a larger budget never delays one.
  std::vector<int64_t> placeFetches(std::vector<int64_t> &occupied,
                                    int64_t budget, int64_t writeWindow) const;

private:
  friend class ScheduleBuilder;
};

inline constexpr Ticks kNoTicks = -1;

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILL_SPILLSCHEDULE_H
