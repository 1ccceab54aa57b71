//===- TransferBuilder.h - Transfers between a schedule's tasks -*- C++ -*-===//
//
// The positions of a schedule are the tasks that use segments without memory of
// their own, and the commands that add up sums of groups in such segments, in
// order. The plan of the arena gives segments a place for windows of positions.
// Fetches from the store have a queue, and evictions have another one, so that
// tasks can run meanwhile. Events order these queues with the tasks and with
// each other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SPILL_TRANSFERBUILDER_H
#define HFTA_LIB_TRANSFORMS_SPILL_TRANSFERBUILDER_H

#include "Hfta/Support/TaskNames.h"
#include "Spill/ArenaPlan.h"
#include "Spill/TurnsOfSteps.h"

#include <map>

namespace mlir::hfta {

/// Inserts the transfers of one schedule between its commands.
class TransferBuilder {
public:
  TransferBuilder(ScheduleOp schedule, int64_t firstEvent, int64_t queue)
      : schedule(schedule), module(schedule->getParentOfType<ModuleOp>()),
        symbols(module), table(SegmentAttr::getTable(module)),
        builder(schedule.getContext()), nextEvent(firstEvent), fetches(queue),
        evictions(queue + 1) {}

  /// Finds the positions. Returns false if no command uses a segment to which
  /// the schedule has to give a place.
  bool findPositions();
  /// Finds the loop of this kind around all positions, if there is one.
  RepeatOp findLoop(RepeatKind over) const;
  /// Finds the segments that need places in the arena, and the positions that
  /// use them, if turns have `copies` copies.
  SmallVector<ArenaSegment> findSegments(int64_t copies);
  void build(const ArenaPlan &plan);
  /// Returns whether this is the schedule `step`, which all copies run.
  bool isStep() const {
    return ScheduleOp(schedule).getKind() == schedules::kStep;
  }
  int64_t getStage() const {
    return static_cast<int64_t>(ScheduleOp(schedule).getStage());
  }
  /// Returns the name of the task at a position, or of the first one of
  /// several.
  std::string getTaskName(int64_t position);

private:
  /// The command `op` at a position, with adjacent commands for which the queue
  /// of tasks waits, from `first` to `last`. Transfers come before or after all
  /// of these.
  struct Position {
    Operation *op, *first, *last;
  };
  /// The commands for which a queue must wait before it accesses a window's
  /// place.
  struct Needs {
    /// The last position or eviction of this iteration, and of the previous
    /// one, as the commands are in a loop; -1 if there is none.
    int64_t position = -1, lastPosition = -1;
    int64_t eviction = -1, lastEviction = -1;
  };

  Block *findBlock(ArrayRef<Operation *> runs);
  /// Returns whether the schedule has to give a segment a place.
  bool isPlaced(int64_t number) const {
    auto segment = cast<SegmentAttr>(table[number]);
    return !segment.isResident() && !liesThroughout(schedule, segment);
  }
  bool usesArena(Operation *op);
  void addPosition(Operation *op);
  void addUse(ArenaSegment &segment, int64_t position, StringRef period,
              bool writes);
  int64_t countInstances(SegmentAttr segment) const;
  Needs findNeeds(const ArenaPlan &plan, size_t number);
  void await(int64_t event, int64_t queue) {
    AwaitOp::create(builder, schedule.getLoc(), event, /*instances=*/1,
                    /*ahead=*/0, /*device=*/0, queue);
  }
  void record(int64_t event, int64_t queue) {
    RecordOp::create(builder, schedule.getLoc(), event, /*instances=*/1,
                     /*ahead=*/0, /*device=*/0, queue);
  }
  void findEvents(const ArenaPlan &plan);
  void inStepsOf(StringRef period, llvm::function_ref<void()> body);
  void begin(const ArenaPlan &plan, size_t number);
  void end(const ArenaPlan &plan, size_t order);
  void finishPosition(const ArenaPlan &plan, int64_t position);

  ScheduleOp schedule;
  ModuleOp module;
  SymbolTable symbols;
  ArrayAttr table;
  OpBuilder builder;
  int64_t nextEvent, fetches, evictions;
  SmallVector<Position> positions;
  /// Events that say that positions are done, that windows (by number) have
  /// been fetched, and that windows (by their order in `byEnd`) have been
  /// evicted.
  std::map<int64_t, int64_t> doneEvents, fetchEvents, evictEvents;
  /// The windows in the order of the ends of their use, in which they are
  /// evicted.
  SmallVector<size_t> byEnd;
  SmallVector<Needs> needs; ///< by window
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILL_TRANSFERBUILDER_H
