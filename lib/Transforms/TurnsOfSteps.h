//===- TurnsOfSteps.h - Copies that go through several steps ----*- C++ -*-===//
//
// Within a budget copies go through a step in turns, and what is spilled of
// their parameters and the optimizer's state comes and goes once a step. Where
// there is room for all that a turn's copies have of it, they may go through
// several steps at a time instead: schedule `begin_turn` brings it, each call
// of `turn_step` is a step of these copies, and `end_turn` takes it back. All
// copies take such turns for the same steps, whose batches are read again.
// Where two turns' copies have room, `begin_turn_beside` brings every other
// turn's to a place of its own, while the one before is still at its steps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H
#define HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <optional>
#include <set>

namespace mlir::hfta {

/// Whether a segment lies in the arena during a whole schedule, where the
/// beginning of the turn has put it.
bool liesThroughout(ScheduleOp schedule, SegmentAttr segment);

/// The schedules that are to be followed with one: itself, or, of a turn's
/// step, as many turns as it takes until copies come to where others were; none
/// for what begins and ends turns. An error where some are missing, or the next
/// turn's copies would come to where the last one's still are.
FailureOr<SmallVector<ScheduleOp>> findTurns(ScheduleOp schedule);

class TurnsOfSteps {
public:
  /// Adds a schedule `turn_step` to the module, that of `step`, whose transfers
  /// aren't planned yet. Nothing where copies take no turns, nothing of them is
  /// spilled, or a step does something for some copies or steps alone, or with
  /// other ranks.
  static std::optional<TurnsOfSteps> add(ModuleOp module, const Job &job);

  ScheduleOp getStep() const { return step; }
  /// Copies of a turn whose state takes at most so many bytes: as many for each
  /// thread that memory is planned for, or else for each half, quarter, … of
  /// the threads, in as few turns, of the same size, as there can be then. 0:
  /// not even one copy's does.
  int64_t countCopies(int64_t bytes) const;
  /// Bytes that are read and written, for each step: turns are taken to go from
  /// line to line of the log.
  int64_t countMoved() const;
  /// Of the state of so many copies.
  int64_t countBytes(int64_t copies) const {
    return sharedBytes + copies * copyBytes;
  }
  /// Adds the schedules that begin and end turns of so many copies, whose state
  /// lies at an address of the arena, and every other turn's behind that if it
  /// comes while the one before is there. Queue `queue` reads, the next one
  /// writes; event `event` tells that a turn's copies have gone.
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
  std::set<int64_t> segments, written; ///< that are spilled and outlive steps
  int64_t sharedBytes = 0, copyBytes = 0;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H
