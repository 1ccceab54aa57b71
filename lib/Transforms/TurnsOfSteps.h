//===- TurnsOfSteps.h - Turns of copies over several steps ------*- C++ -*-===//
//
// With a memory budget, copies run a step in turns, and the spilled part of
// their parameters and the optimizer's state is fetched and evicted once per
// step. Where there is room for all of this state of a turn's copies, they may
// run several steps at a time instead: schedule `begin_turn` fetches it, each
// call of `turn_step` is a step of these copies, and `end_turn` evicts it. All
// copies take such turns for the same steps, whose batches are read again.
// Where two turns' copies have room, `begin_turn_beside` fetches every other
// turn's to a place of its own, while the turn before still runs its steps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H
#define HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <optional>
#include <set>

namespace mlir::hfta {

/// Whether a segment lies in the arena during a whole schedule, because the
/// beginning of the turn has fetched it.
bool liesThroughout(ScheduleOp schedule, SegmentAttr segment);

/// Finds the schedules to follow together with one: the schedule alone, or, for
/// a turn's step, as many turns as it takes until copies get places that others
/// had before; none for the schedules that begin and end turns. Gives an error
/// where some are missing, or the next turn's copies would overlap with the
/// last one's.
FailureOr<SmallVector<ScheduleOp>> findTurns(ScheduleOp schedule);

class TurnsOfSteps {
public:
  /// Adds a schedule `turn_step` to the module, a clone of `step`, whose
  /// transfers aren't planned yet. Returns nothing where copies take no turns,
  /// none of their state is spilled, or a step has commands for some copies or
  /// steps alone, or with other ranks.
  static std::optional<TurnsOfSteps> add(ModuleOp module, const Job &job);

  ScheduleOp getStep() const { return step; }
  /// Returns how many copies a turn has, if their state takes at most so many
  /// bytes: equally many for each thread that memory is planned for, or else
  /// for each half, quarter, … of the threads, in as few turns of equal size as
  /// possible. 0: there is no room for a single copy.
  int64_t countCopies(int64_t bytes) const;
  /// Counts the bytes that are read and written, per step: turns are assumed to
  /// last from one line of the log to the next.
  int64_t countMoved() const;
  /// Counts the bytes of the state of `copies` copies.
  int64_t countBytes(int64_t copies) const {
    return sharedBytes + copies * copyBytes;
  }
  /// Adds the schedules that begin and end turns of `copies` copies, whose
  /// state lies at an address of the arena; with `overlaps`, every other turn's
  /// comes after that, as it is fetched while the turn before is still there.
  /// Queue `queue` reads, the next one writes; event `event` says that a turn's
  /// copies have been evicted.
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
  std::set<int64_t> segments, written; ///< spilled state of several steps
  int64_t sharedBytes = 0, copyBytes = 0;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TURNSOFSTEPS_H
