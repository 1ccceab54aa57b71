//===- ArenaContents.h - What lies where in the arena -----------*- C++ -*-===//
//
// Follows a schedule's transfers, where its commands are followed in the host's
// order: which instances of segments have a place in the arena, whether what
// they hold is in the store too, and what the store has.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_ARENACONTENTS_H
#define HFTA_LIB_TRANSFORMS_ARENACONTENTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <map>
#include <set>

namespace mlir::hfta {

class ArenaContents {
public:
  /// A segment and an instance.
  using Place = std::pair<int64_t, int64_t>;
  /// Bytes of the arena.
  struct Range {
    int64_t begin, end;
  };

  explicit ArenaContents(ArrayAttr segments) : segments(segments) {}

  /// Each gives an error where a segment isn't where the command supposes it,
  /// or where what it holds would be lost, or isn't there.
  LogicalResult fetch(FetchOp fetch, ArrayRef<int64_t> instances);
  LogicalResult evict(EvictOp evict, ArrayRef<int64_t> instances);
  LogicalResult drop(DropOp drop, ArrayRef<int64_t> instances);
  /// Of a segment that the task reads, or writes.
  LogicalResult use(RunOp run, TaskOp task, Place place, bool writes);
  /// Of what holds groups' sums.
  LogicalResult addUp(AllReduceOp reduce, Place place);
  /// At the end of a call nothing has a place but what lies there for a turn of
  /// several steps, and the next call finds in the store what lives on from
  /// call to call, alone.
  LogicalResult finishCall(ScheduleOp schedule);

  /// Where an instance lies; nothing if it has no place.
  std::optional<Range> find(Place place) const;
  bool isResident(int64_t segment) const {
    return cast<SegmentAttr>(segments[segment]).isResident();
  }

private:
  struct Window {
    Range range;
    bool isDefined; ///< holds something
    bool isDirty;   ///< that the store hasn't
  };

  LogicalResult checkFree(FetchOp fetch, Range range) const;
  /// Whether what a segment holds lives on from call to call.
  bool isState(int64_t segment) const;

  ArrayAttr segments;
  std::map<Place, Window> windows;
  std::set<Place> stored; ///< in this call, of what lives within one
  std::set<Place> ofTurn; ///< what the beginning of a turn has fetched
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ARENACONTENTS_H
