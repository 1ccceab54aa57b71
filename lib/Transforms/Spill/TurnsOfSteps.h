//===- TurnsOfSteps.h - Turns of copies over several steps ------*- C++ -*-===//
//
// With a memory budget, copies run a step in turns, and the spilled part of
// their parameters and optimizer state is fetched and evicted once per step. If
// all of this state of a turn's copies has room in the arena, they may run
// several steps in a row instead: schedule `begin_turn` fetches the state, each
// call of `turn_step` is a step of these copies, and `end_turn` evicts it. All
// copies take such turns for the same steps, whose batches are read again. If
// the state of two turns' copies has room, `begin_turn_beside` fetches every
// other turn's state to a place of its own, while the previous turn still runs
// its steps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SPILL_TURNSOFSTEPS_H
#define HFTA_LIB_TRANSFORMS_SPILL_TURNSOFSTEPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

#include <optional>
#include <set>

namespace mlir::hfta {

/// Returns whether a segment is in the arena during the whole schedule, because
/// the schedule that begins the turn has fetched it.
bool liesThroughout(ScheduleOp schedule, SegmentAttr segment);

/// Finds the schedules that have to be verified in sequence. For a turn's step,
/// these are as many turns as it takes until copies get places that others had
/// before. There are none for the schedules that begin and end turns, and only
/// the schedule itself for all others. Reports an error if a schedule is
/// missing, or if the next turn's state would overlap with the previous one's.
FailureOr<SmallVector<ScheduleOp>> findTurns(ScheduleOp schedule);

/// The additional schedules for turns of copies that take several steps.
class TurnsOfSteps {
public:
  /// Adds a schedule `turn_step` to the module, a clone of `step` whose
  /// transfers aren't planned yet. Returns nothing if copies don't take turns,
  /// none of their state is spilled, or a step has commands for some copies or
  /// some steps only, or with other ranks.
  static std::optional<TurnsOfSteps> add(ModuleOp module, const Job &job);

  ScheduleOp getStep() const { return step; }
  /// Returns the number of copies in a turn if their state takes at most
  /// `bytes` bytes: a multiple of the number of threads for which memory is
  /// planned, or else of a half, quarter, … of that, in as few turns of equal
  /// size as possible. Returns 0 if there is no room for a single copy.
  int64_t countCopies(int64_t bytes) const;
  /// Returns the bytes that are read and written per step, under the assumption
  /// that turns last from one line of the log to the next.
  int64_t countMoved() const;
  /// Returns the bytes of the state of `copies` copies in the arena.
  int64_t countBytes(int64_t copies) const {
    return sharedBytes + copies * copyBytes;
  }
  /// Adds the schedules that begin and end turns of `copies` copies, whose
  /// state is at `address` in the arena. With `overlaps`, the state of every
  /// other turn is placed behind that, as it is fetched while the state of the
  /// previous turn is still there. Queue `queue` reads, and the next queue
  /// writes. Event `event` says that the state of a turn's copies has been
  /// evicted.
  void build(int64_t copies, int64_t address, bool overlaps, int64_t queue,
             int64_t event);

private:
  TurnsOfSteps(ScheduleOp step, ArrayAttr table, const Job &job)
      : step(step), table(table), allCopies(job.copies),
        threads(std::max<int64_t>(job.memoryThreads, 1)) {}

  void findSegments();
  SegmentAttr getSegment(int64_t number) const {
    return cast<SegmentAttr>(table[number]);
  }
  int64_t countBytes(int64_t number, int64_t copies) const;

  ScheduleOp step;
  ArrayAttr table;
  int64_t allCopies, threads;
  std::set<int64_t> segments, written; ///< spilled state, and what steps write
  int64_t sharedBytes = 0, copyBytes = 0;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILL_TURNSOFSTEPS_H
