//===- ScheduleEffects.cpp - The effects of commands on contents ----------===//

#include "Verify/ScheduleContents.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

LogicalResult ScheduleContents::follow(ScheduleCommandOpInterface command,
                                       const CommandVisit &visit) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(command)
      .Case([&](RunOp op) { return run(op, visit.now); })
      .Case([&](TransferOp op) { return transfer(op, visit.now); })
      .Case([&](FillOp op) { return fill(op); })
      .Case([&](AllReduceOp op) { return addUp(op); })
      .Case([&](AllGatherOp op) { return gather(op, visit); })
      .Case([&](BroadcastBytesOp op) { return broadcast(op); })
      .Case([&](TakeGroupOp op) { return takeGroup(op); })
      .Case([&](SendOp op) { return send(op, visit.now); })
      .Case([&](ReceiveOp op) { return receive(op, visit.now); })
      .Case([&](FetchOp op) { return fetch(op); })
      .Default([&](Operation *) { return followAccesses(command); });
}

/// Follows a command that isn't listed above by its accesses. What they mean is
/// known only for state.
LogicalResult
ScheduleContents::followAccesses(ScheduleCommandOpInterface command) {
  for (const CommandAccess &access : command.getAccesses()) {
    int64_t segment = access.place.getNumber();
    bool isKnown = access.place.getSpace() == Space::segment &&
                   access.kind != CommandAccess::Kind::byMicroBatch &&
                   access.kind != CommandAccess::Kind::byReplicas &&
                   SegmentAttr::isState(getSegment(segment).getRole());
    if (!isKnown)
      return command->emitOpError("accesses ")
             << access.place
             << ", but the verifier of schedules doesn't know with what effect";
    int64_t begin = access.place.getOffset();
    if (access.kind != CommandAccess::Kind::write &&
        failed(readOthers(command, segment, {begin, begin + access.bytes})))
      return failure();
    if (access.kind == CommandAccess::Kind::read)
      continue;
    for (Range range : findCovered(access.place, access.bytes))
      if (range.end <= begin + access.bytes)
        old[segment].remove(range.begin, range.end);
  }
  return success();
}
