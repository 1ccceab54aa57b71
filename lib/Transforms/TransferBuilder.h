//===- TransferBuilder.h - Transfers between a schedule's tasks -*- C++ -*-===//
//
// The tasks of a schedule that use segments without memory of their own, and
// the commands that add up groups' sums in such segments, are positions in a
// row; the arena's plan says in which windows of positions a segment lies
// where. Fetches from the store go through one queue, evictions through another
// one, so that tasks go on meanwhile; events order them with the tasks and with
// each other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TRANSFERBUILDER_H
#define HFTA_LIB_TRANSFORMS_TRANSFERBUILDER_H

#include "ArenaPlan.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"
#include "TurnsOfSteps.h"

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

  /// Finds the positions. Returns whether some task uses a segment that isn't
  /// resident.
  bool findPositions();
  /// Finds the loop of this kind around all positions, if there is one.
  RepeatOp findLoop(RepeatKind over) const;
  /// Finds the segments in the arena that the tasks use, in turns of `copies`
  /// copies.
  SmallVector<ArenaSegment> findSegments(int64_t copies);
  void build(const ArenaPlan &plan);
  /// Whether this is the program's step, which all copies run.
  bool isStep() const {
    return ScheduleOp(schedule).getKind() == schedules::kStep;
  }
  int64_t getStage() const {
    return static_cast<int64_t>(ScheduleOp(schedule).getStage());
  }
  /// Returns the name of the task at a position, or of the first of several.
  std::string getTaskName(int64_t position);

private:
  /// The commands at one position, with those next to it that the tasks' queue
  /// waits for: transfers come before, or after, all of them.
  struct Position {
    Operation *op, *first, *last;
  };
  /// The commands that a queue must await before it may touch a window's place.
  struct Needs {
    /// The last position, or eviction, of this round and of the one before, as
    /// the commands are in a loop.
    int64_t position = -1, lastPosition = -1;
    int64_t eviction = -1, lastEviction = -1;
  };

  Block *findBlock(ArrayRef<Operation *> runs);
  /// Whether the schedule has to give a segment a place.
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
  /// Events of positions that are done, of windows by number that are fetched,
  /// of windows by their order in `byEnd` that are evicted.
  std::map<int64_t, int64_t> doneEvents, fetchEvents, evictEvents;
  /// Windows by the end of their use, which is the order in which they are
  /// evicted.
  SmallVector<size_t> byEnd;
  SmallVector<Needs> needs; ///< by window
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TRANSFERBUILDER_H
