//===- ArenaContents.cpp - The contents of the arena ----------------------===//

#include "Verify/ArenaContents.h"

#include "Hfta/Support/TaskNames.h"

using namespace mlir;
using namespace mlir::hfta;

bool ArenaContents::isState(int64_t segment) const {
  return !SegmentAttr::livesWithinStep(
      cast<SegmentAttr>(segments[segment]).getRole());
}

std::optional<ArenaContents::Range> ArenaContents::find(Place place) const {
  auto known = windows.find(place);
  return known == windows.end() ? std::nullopt
                                : std::optional(known->second.range);
}

/// Fails with an error if `range` overlaps the place of a segment that hasn't
/// been dropped yet.
LogicalResult ArenaContents::checkFree(FetchOp fetch, Range range) const {
  for (const auto &[place, window] : windows)
    if (window.range.begin < range.end && range.begin < window.range.end)
      return fetch.emitOpError("takes bytes ")
             << range.begin << " to " << range.end
             << " of the arena, in which segment " << place.first << " lies";
  return success();
}

LogicalResult ArenaContents::fetch(FetchOp fetch, ArrayRef<int64_t> instances) {
  int64_t segment = fetch.getSegment();
  bool isStored = fetch.getContents() == Contents::stored;
  int64_t bytes = fetch.findInstanceBytes().value_or(0);
  for (int64_t instance : instances) {
    Place place = {segment, instance};
    if (windows.count(place))
      return fetch.emitOpError("gives segment ")
             << segment << " a place, but it already has one";
    if (isStored && !isState(segment) && !stored.count(place))
      return fetch.emitOpError("reads segment ")
             << segment
             << " from the store, which this call has not written there";
    int64_t begin =
        fetch.getAddress() +
        instance % static_cast<int64_t>(fetch.getInstances()) * bytes;
    Range range = {begin, begin + bytes};
    if (failed(checkFree(fetch, range)))
      return failure();
    windows[place] = {range, fetch.getContents() != Contents::undefined,
                      /*isDirty=*/false};
  }
  return success();
}

LogicalResult ArenaContents::evict(EvictOp evict, ArrayRef<int64_t> instances) {
  for (int64_t instance : instances) {
    Place place = {evict.getSegment(), instance};
    auto window = windows.find(place);
    if (window == windows.end() || !window->second.isDefined)
      return evict.emitOpError("writes segment ")
             << evict.getSegment() << " to the store, but it "
             << (window == windows.end() ? "has no place"
                                         : "holds nothing yet");
    window->second.isDirty = false;
    stored.insert(place);
  }
  return success();
}

LogicalResult ArenaContents::drop(DropOp drop, ArrayRef<int64_t> instances) {
  for (int64_t instance : instances) {
    auto window = windows.find({drop.getSegment(), instance});
    if (window == windows.end())
      return drop.emitOpError("drops segment ")
             << drop.getSegment() << ", which has no place";
    if (window->second.isDirty && isState(drop.getSegment()))
      return drop.emitOpError("drops segment ")
             << drop.getSegment()
             << " with values that tasks have written and no hfta.evict has "
                "stored";
    windows.erase(window);
  }
  return success();
}

/// A task that also writes the segment may read an instance without contents:
/// it reads what it has itself written.
LogicalResult ArenaContents::use(RunOp run, TaskOp task, Place place,
                                 bool writes) {
  bool isOwn = llvm::is_contained(task.getWrites(), place.first);
  return access(run, place, /*isRead=*/!writes && !isOwn, writes);
}

LogicalResult ArenaContents::access(Operation *op, Place place, bool isRead,
                                    bool isWrite) {
  auto window = windows.find(place);
  if (window == windows.end())
    return op->emitOpError("uses segment ")
           << place.first << ", which has no place in the arena";
  if (isRead && !window->second.isDefined)
    return op->emitOpError("reads segment ")
           << place.first << ", which holds nothing yet";
  if (isWrite)
    window->second.isDefined = window->second.isDirty = true;
  return success();
}

LogicalResult ArenaContents::finishCall(ScheduleOp schedule) {
  if (schedule.getKind() == schedules::kBeginTurn ||
      schedule.getKind() == schedules::kBeginTurnBeside)
    for (const auto &[place, window] : windows)
      ofTurn.insert(place);
  if (schedule.getKind() == schedules::kEndTurn)
    ofTurn.clear();
  for (const auto &[place, window] : windows)
    if (!ofTurn.count(place))
      return schedule.emitOpError("leaves segment ")
             << place.first << " in the arena, which no hfta.drop has freed";
  stored.clear();
  return success();
}
