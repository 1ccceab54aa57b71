//===- ScheduleExchanges.cpp - Contents received from other workers -------===//

#include "Verify/ScheduleContents.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Collective commands of ranks
//===----------------------------------------------------------------------===//

/// Checks that the command's bytes are the blocks that its task adds up.
LogicalResult ScheduleContents::checkBlocks(AllReduceOp reduce) {
  PlaceAttr at = reduce.getAt();
  auto bytes = static_cast<int64_t>(reduce.getBytes());
  auto task = symbols.lookup<TaskOp>(reduce.getTask());
  for (auto launch : task.getBody().getOps<LaunchOp>()) {
    bool isWhole = at.getOffset() == 0 && at.getStride() == bytes &&
                   bytes == getBytes(at.getNumber());
    bool fits = llvm::all_of(launch.getBindings(), [&](Attribute binding) {
      return cast<BindingAttr>(binding).getStride() == at.getStride();
    });
    if (launch.getPerCopy() ? !fits || at.getOffset() % at.getStride() != 0
                            : !isWhole)
      return reduce.emitOpError("must add up the blocks that task ")
             << reduce.getTaskAttr() << " adds, got " << bytes << " bytes at "
             << at;
  }
  return success();
}

LogicalResult ScheduleContents::addUp(AllReduceOp reduce) {
  PlaceAttr at = reduce.getAt();
  int64_t number = at.getNumber(), begin = at.getOffset();
  int64_t end = begin + static_cast<int64_t>(reduce.getBytes());
  int64_t instances = getSegment(number).getInstances();
  int64_t groups = getGroups(number);
  if (instances != groups)
    return reduce.emitOpError("adds up ")
           << groups << " groups' sums in segment " << number << ", which has "
           << instances << " instances";
  if (failed(checkBlocks(reduce)))
    return failure();
  Sums &ofSegment = sums[number];
  if (!ofSegment.open.hasAll(begin, end))
    return reduce.emitOpError("adds up sums in segment ")
           << number << " that are already complete";
  ofSegment.open.remove(begin, end);
  if (getSegment(number).getRole() == Role::result)
    undelivered[number].add(begin, end);
  return success();
}

/// Makes a segment's sums open again, unless it is read from the store, because
/// these are the sums of other copies, which begin with zero.
LogicalResult ScheduleContents::fetch(FetchOp fetch) {
  int64_t number = fetch.getSegment();
  if (SegmentAttr::isSummed(getSegment(number).getRole()) &&
      fetch.getContents() != Contents::stored)
    sums[number].open.add(0, getBytes(number));
  return success();
}

LogicalResult ScheduleContents::gather(AllGatherOp gather,
                                       const CommandVisit &visit) {
  PlaceAttr at = gather.getAt();
  int64_t number = at.getNumber(), begin = at.getOffset();
  int64_t end = begin + static_cast<int64_t>(gather.getBytes());
  for (int64_t microBatch = 0; microBatch < visit.microBatches; ++microBatch) {
    Moment moment;
    moment.number = microBatch;
    Exchanged &held = exchanged[getPlace(number, moment)];
    if (llvm::is_contained(visit.own, microBatch)) {
      if (held.microBatch != microBatch || !held.written.hasAll(begin, end))
        return gather.emitOpError("sends the values of micro-batch ")
               << microBatch << " in segment " << number
               << ", but nothing has written them";
      held.given.add(begin, end);
      continue;
    }
    held.microBatch = microBatch;
    held.written.add(begin, end);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Messages between stages
//===----------------------------------------------------------------------===//

/// Checks that a segment which other stages read is sent, or received, as a
/// whole.
LogicalResult ScheduleContents::checkWhole(Operation *op, PlaceAttr at,
                                           uint64_t bytes) const {
  int64_t all = getBytes(at.getNumber());
  if (at.getOffset() == 0 && static_cast<int64_t>(bytes) == all)
    return success();
  return op->emitOpError("must be for all ")
         << all << " bytes of segment " << at.getNumber() << ", got " << bytes
         << " from byte " << at.getOffset() << " on";
}

/// Checks that the data sent for a micro-batch belong to it.
LogicalResult ScheduleContents::send(SendOp send, const Moment &moment) {
  int64_t segment = send.getAt().getNumber();
  if (failed(checkWhole(send, send.getAt(), send.getBytes())))
    return failure();
  if (getSegment(segment).getRole() != Role::cut) {
    given.insert(segment);
    if (getSegment(segment).getRole() == Role::moment)
      takeMoments(segment);
    if (failed(readOthers(send, segment, {0, getBytes(segment)})))
      return failure();
    return readSums(send, segment, 0, getBytes(segment));
  }
  auto known = savedOf.find(getPlace(segment, moment));
  int64_t expected = moment.first + moment.place;
  if (known != savedOf.end() && known->second == expected)
    return success();
  InFlightDiagnostic error =
      send.emitOpError("sends the values of micro-batch ")
      << expected << " in segment " << segment << ", which holds ";
  if (known == savedOf.end())
    return error << "nothing";
  return error << "those of micro-batch " << known->second;
}

LogicalResult ScheduleContents::receive(ReceiveOp receive,
                                        const Moment &moment) {
  int64_t segment = receive.getAt().getNumber();
  auto ahead = static_cast<int64_t>(receive.getAhead());
  if (failed(checkWhole(receive, receive.getAt(), receive.getBytes())))
    return failure();
  Role role = getSegment(segment).getRole();
  if (role == Role::cut) {
    savedOf[getPlace(segment, moment, ahead)] =
        moment.first + moment.place + ahead;
    return success();
  }
  if (readAsItWas.count(segment))
    return receive.emitOpError("receives segment ")
           << segment << " after tasks have read its old values";
  received.insert(segment);
  // The sender has already added up the groups' sums.
  if (SegmentAttr::isSummed(role))
    sums[segment].open.remove(0, getBytes(segment));
  return success();
}

/// Checks that norms, sums and moments of other stages were received in this
/// call before they are read. Notes reads of state that wasn't.
LogicalResult ScheduleContents::readReceived(RunOp run, int64_t number) {
  auto stage =
      static_cast<int64_t>(run->getParentOfType<ScheduleOp>().getStage());
  SegmentAttr segment = getSegment(number);
  Role role = segment.getRole();
  bool isOfCall = role == Role::output || role == Role::result ||
                  SegmentAttr::isSummed(role);
  if (stage < 0 || !llvm::is_contained(segment.getReaders(), stage) ||
      received.count(number))
    return success();
  if (role == Role::curvature)
    readAsItWas.insert(number);
  if (!isOfCall)
    return success();
  return run.emitOpError("reads segment ")
         << number << ", which this call has not received";
}

/// Checks that all readers receive the parameters and curvature that the
/// owner's schedule of the same kind changes.
LogicalResult
ScheduleContents::checkReceived(ScheduleOp schedule,
                                llvm::function_ref<bool(RunOp)> isRun) {
  auto stage = static_cast<int64_t>(schedule.getStage());
  if (stage < 0)
    return success();
  for (auto [index, segment] :
       llvm::enumerate(segments.getAsRange<SegmentAttr>())) {
    auto number = static_cast<int64_t>(index);
    bool isState = segment.getRole() == Role::parameter ||
                   segment.getRole() == Role::curvature;
    if (!isState || received.count(number) ||
        !llvm::is_contained(segment.getReaders(), stage))
      continue;
    auto owner = symbols.lookup<ScheduleOp>(ScheduleOp::makeName(
        schedule.getKind(), job.getStage(segment.getBlock())));
    if (!owner)
      continue;
    WalkResult changes = owner.walk([&](RunOp run) {
      auto task = symbols.lookup<TaskOp>(run.getTask());
      return isRun(run) && llvm::is_contained(task.getWrites(), number)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (changes.wasInterrupted())
      return schedule.emitOpError("does not receive segment ")
             << number << ", which @" << owner.getSymName() << " changes";
  }
  return success();
}
