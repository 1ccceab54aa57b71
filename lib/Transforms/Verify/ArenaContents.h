//===- ArenaContents.h - The contents of the arena --------------*- C++ -*-===//
//
// Checks a schedule's transfers by simulating its commands in the order in
// which the host issues them. Records which instances of segments have a place
// in the arena, which of these have changed since they were last in the store,
// and which instances the store holds.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_VERIFY_ARENACONTENTS_H
#define HFTA_LIB_TRANSFORMS_VERIFY_ARENACONTENTS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <map>
#include <set>

namespace mlir::hfta {

class ArenaContents {
public:
  /// The number of a segment in the module's table, and the index of one of its
  /// instances.
  using Place = std::pair<int64_t, int64_t>;
  /// A half-open range of byte offsets in the arena.
  struct Range {
    int64_t begin, end;
  };

  explicit ArenaContents(ArrayAttr segments) : segments(segments) {}

  /// Simulates a transfer of `instances` of one segment. Fails with an error at
  /// the command if an instance has no place (for a fetch: already has one), if
  /// the bytes that a fetch takes aren't free, or if the command would read
  /// contents that don't exist or lose contents that are needed.
  LogicalResult fetch(FetchOp fetch, ArrayRef<int64_t> instances);
  LogicalResult evict(EvictOp evict, ArrayRef<int64_t> instances);
  LogicalResult drop(DropOp drop, ArrayRef<int64_t> instances);
  /// Simulates a task's access to an instance. Fails with an error if the
  /// instance has no place in the arena, or if the task reads it while it holds
  /// nothing.
  LogicalResult use(RunOp run, TaskOp task, Place place, bool writes);
  /// Simulates another command's access to an instance, with the same errors.
  LogicalResult access(Operation *op, Place place, bool isRead, bool isWrite);
  /// Checks at the end of a schedule that all instances have been dropped,
  /// except for those that stay in the arena during a turn of several steps,
  /// and fails with an error otherwise. Forgets what the store holds of
  /// segments whose contents live only within a call.
  LogicalResult finishCall(ScheduleOp schedule);

  /// Returns the bytes of the arena in which an instance lies; nothing if it
  /// has no place.
  std::optional<Range> find(Place place) const;
  bool isResident(int64_t segment) const {
    return cast<SegmentAttr>(segments[segment]).isResident();
  }

private:
  struct Window {
    Range range;
    bool isDefined; ///< whether it has contents, fetched or written
    bool isDirty;   ///< whether contents differ from those in the store
  };

  LogicalResult checkFree(FetchOp fetch, Range range) const;
  /// Whether a segment's contents persist from call to call, as parameters do.
  bool isState(int64_t segment) const;

  ArrayAttr segments;
  std::map<Place, Window> windows;
  std::set<Place> stored; ///< instances that this call has evicted
  std::set<Place> ofTurn; ///< in the arena at the end of begin_turn
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_VERIFY_ARENACONTENTS_H
