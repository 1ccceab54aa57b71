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

/// Returns whether a segment of this role has one value that commands read and
/// write, which belongs to no micro-batch and isn't a sum that is to be
/// completed.
static bool isPlainState(Role role) {
  switch (role) {
  case Role::parameter:
  case Role::optimizer_state:
  case Role::curvature:
  case Role::statistics:
    return true;
  case Role::constant:
  case Role::gradient:
  case Role::moment:
  case Role::saved:
  case Role::cut:
  case Role::workspace:
  case Role::scratch:
  case Role::input:
  case Role::output:
  case Role::scalar:
  case Role::result:
  case Role::exchange:
  case Role::received:
    return false;
  }
  llvm_unreachable("all roles are above");
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
                   isPlainState(getSegment(segment).getRole());
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
