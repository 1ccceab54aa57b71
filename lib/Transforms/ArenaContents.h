//===- ArenaContents.h - The contents of the arena --------------*- C++ -*-===//
//
// Follows a schedule's transfers in the host's order of commands: which
// instances of segments have a place in the arena, whether their contents are
// in the store too, and what else the store has.
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

  /// Each gives an error where a segment isn't where the command expects it,
  /// where its contents would be lost, or where it has none yet.
  LogicalResult fetch(FetchOp fetch, ArrayRef<int64_t> instances);
  LogicalResult evict(EvictOp evict, ArrayRef<int64_t> instances);
  LogicalResult drop(DropOp drop, ArrayRef<int64_t> instances);
  /// Checks a segment that the task reads, or writes.
  LogicalResult use(RunOp run, TaskOp task, Place place, bool writes);
  /// Checks a segment that holds groups' sums.
  LogicalResult addUp(AllReduceOp reduce, Place place);
  /// Checks that at the end of a call nothing has a place, except for segments
  /// that stay there during a turn of several steps, and that the store has all
  /// state that the next call needs, and nothing else.
  LogicalResult finishCall(ScheduleOp schedule);

  /// Returns where an instance lies; nothing if it has no place.
  std::optional<Range> find(Place place) const;
  bool isResident(int64_t segment) const {
    return cast<SegmentAttr>(segments[segment]).isResident();
  }

private:
  struct Window {
    Range range;
    bool isDefined; ///< whether it holds anything
    bool isDirty;   ///< whether the store lacks its contents
  };

  LogicalResult checkFree(FetchOp fetch, Range range) const;
  /// Whether a segment's contents live on from call to call.
  bool isState(int64_t segment) const;

  ArrayAttr segments;
  std::map<Place, Window> windows;
  std::set<Place> stored; ///< in this call, where contents live within one
  std::set<Place> ofTurn; ///< fetched when the turn began
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ARENACONTENTS_H
