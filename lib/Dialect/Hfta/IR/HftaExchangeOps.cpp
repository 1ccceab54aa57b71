//===- HftaExchangeOps.cpp - Commands between ranks or stages -------------===//

#include "ScheduleVerifiers.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the segment that contains a place; null if the module's table has no
/// such segment.
static SegmentAttr getSegment(Operation *op, PlaceAttr place) {
  ArrayAttr segments = SegmentAttr::getTable(op);
  int64_t number = place.getNumber();
  if (!segments || number < 0 || number >= int64_t(segments.size()))
    return nullptr;
  return cast<SegmentAttr>(segments[place.getNumber()]);
}

//===----------------------------------------------------------------------===//
// Collective commands of ranks
//===----------------------------------------------------------------------===//

/// Checks a collective command, which all ranks must run equally often, so that
/// it can't be in a repeat. With `mayTakeTurns` it may be in turns of a given
/// number of copies, of which every rank has the same number: its segment is in
/// the arena in one turn and not in the next.
template <typename OpTy>
static LogicalResult verifyOnce(OpTy op, bool mayTakeTurns = false) {
  for (auto outer = op->template getParentOfType<RepeatOp>(); outer;
       outer = outer->template getParentOfType<RepeatOp>())
    if (!mayTakeTurns || outer.getOver() != RepeatKind::turns ||
        !outer.getCopies())
      return op.emitOpError("stands in a repeat over ")
             << stringifyRepeatKind(outer.getOver())
             << ", which ranks repeat different numbers of times";
  return success();
}

/// Checks that all replicas have the segment of a command in which all take
/// part.
static LogicalResult verifyAllHold(Operation *op, PlaceAttr place) {
  SegmentAttr segment = getSegment(op, place);
  if (!segment || !segment.getHolders())
    return success();
  return op->emitOpError("is for all replicas, but segment ")
         << place.getNumber() << " is held only by replicas "
         << segment.getHolders();
}

LogicalResult AllReduceOp::verify() {
  PlaceAttr at = getAt();
  int64_t block = at.getStride();
  if (auto bytes = static_cast<int64_t>(getBytes());
      block < 1 || bytes % block != 0)
    return emitOpError("must add up whole blocks of ")
           << block << " bytes, got " << bytes << " bytes";
  SegmentAttr segment = getSegment(*this, at);
  return verifyOnce(*this,
                    /*mayTakeTurns=*/segment && !segment.isResident());
}

LogicalResult
AllReduceOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto task = symbolTable.lookupNearestSymbolFrom<TaskOp>(*this, getTaskAttr());
  if (!task)
    return emitOpError("names no task: ") << getTaskAttr();
  int64_t at = getAt().getNumber(), through = getThrough().getNumber();
  if (!llvm::is_contained(task.getReads(), at) ||
      !llvm::is_contained(task.getReads(), through) ||
      !llvm::equal(task.getWrites(), ArrayRef(at)))
    return emitOpError("adds with ")
           << getTaskAttr() << ", which doesn't add segment " << through
           << " to segment " << at;
  if (failed(verifyPlace(*this, getThrough(), getAt().getStride())))
    return failure();
  SegmentAttr sums = getSegment(*this, getAt());
  if (sums && !sums.isOfGroups())
    return emitOpError("adds up one instance for each group, but segment ")
           << at << " has role " << stringifyRole(sums.getRole());
  SegmentAttr received = getSegment(*this, getThrough());
  if (received && received.getRole() != Role::received)
    return emitOpError(
               "expected a segment of role received to receive in, got ")
           << "segment " << through << " of role "
           << stringifyRole(received.getRole());
  if (failed(verifyAllHold(*this, getAt())))
    return failure();
  return verifyAllHold(*this, getThrough());
}

/// The sums, and the memory through which other ranks' sums come.
SmallVector<CommandAccess> AllReduceOp::getAccesses() {
  SegmentAttr received = getSegment(*this, getThrough());
  return {{CommandAccess::Kind::readWrite, getAt().withoutStride(),
           int64_t(getBytes()), CommandAccess::Instances::all},
          {CommandAccess::Kind::write, getThrough().withoutStride(),
           received ? received.getBytes() : 0, CommandAccess::Instances::all}};
}

LogicalResult AllGatherOp::verify() { return verifyOnce(*this); }

LogicalResult
AllGatherOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  SegmentAttr segment = getSegment(*this, getAt());
  if (segment && segment.getRole() != Role::exchange)
    return emitOpError("expected a segment of role exchange, got segment ")
           << getAt().getNumber() << " of role "
           << stringifyRole(segment.getRole());
  return verifyAllHold(*this, getAt());
}

SmallVector<CommandAccess> AllGatherOp::getAccesses() {
  return {{CommandAccess::Kind::byMicroBatch, getAt().withoutStride(),
           int64_t(getBytes()), CommandAccess::Instances::all}};
}

/// Checks that a place with a stride, one place per copy, is within each copy's
/// slab if the segment has slabs.
template <typename OpTy>
static LogicalResult verifyCopiesPlace(OpTy op) {
  PlaceAttr at = op.getAt();
  auto bytes = static_cast<int64_t>(op.getBytes());
  SegmentAttr segment = getSegment(op, at);
  if (at.getStride() == 0 || !segment)
    return success();
  if (segment.getCopyBytes() > 0 && segment.getCopyBytes() != at.getStride())
    return op.emitOpError("has a stride of ")
           << at.getStride() << " bytes from copy to copy in segment "
           << at.getNumber() << ", whose slabs have " << segment.getCopyBytes();
  if (at.getStride() > segment.getBytes())
    return op.emitOpError("has a stride of ")
           << at.getStride() << " bytes from copy to copy in segment "
           << at.getNumber() << ", which has " << segment.getBytes();
  int64_t begin = segment.getCopyBytes() > 0 ? at.getOffset() : 0;
  if (begin + bytes > at.getStride())
    return op.emitOpError("ends at byte ")
           << begin + bytes << " of a copy's part, which has "
           << at.getStride();
  return success();
}

/// Checks that a command runs once for all copies: not in a repeat, a case of
/// actions, or commands for chosen copies.
template <typename OpTy>
static LogicalResult verifyForAllCopies(OpTy op) {
  if (auto outer = op->template getParentOfType<RepeatOp>())
    return op.emitOpError("stands in a repeat over ")
           << stringifyRepeatKind(outer.getOver())
           << ", but is done once, for all copies";
  if (op->template getParentOfType<CaseOp>())
    return op.emitOpError("stands in a case of actions, but is done once");
  for (auto outer = op->template getParentOfType<EveryOp>(); outer;
       outer = outer->template getParentOfType<EveryOp>())
    if (outer.choosesCopies())
      return op.emitOpError(
                 "is for all copies, but stands in commands for copies "
                 "that are '")
             << stringifyDueKind(outer.getWhich()) << "'";
  return success();
}

LogicalResult BroadcastBytesOp::verify() { return verifyForAllCopies(*this); }

LogicalResult
BroadcastBytesOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifyCopiesPlace(*this)))
    return failure();
  SegmentAttr segment = getSegment(*this, getAt());
  if (!segment)
    return success();
  switch (segment.getRole()) {
  case Role::parameter:
  case Role::gradient:
  case Role::optimizer_state:
  case Role::statistics:
  case Role::output:
  case Role::result:
  case Role::curvature:
  case Role::moment:
    break;
  default:
    return emitOpError("can't be for segment ")
           << getAt().getNumber() << ", whose role is "
           << stringifyRole(segment.getRole());
  }
  for (ReplicasAttr replicas : {getFrom(), getTo()})
    if (segment.getHolders() && !replicas.isWithin(segment.getHolders()))
      return emitOpError("is for replicas ")
             << replicas << ", but segment " << getAt().getNumber()
             << " is held only by replicas " << segment.getHolders();
  return success();
}

SmallVector<CommandAccess> BroadcastBytesOp::getAccesses() {
  return {{CommandAccess::Kind::byReplicas, getAt(), int64_t(getBytes()),
           CommandAccess::Instances::first}};
}

CommandReplicas BroadcastBytesOp::getReplicaSets() {
  return {/*runs=*/{}, getFrom(), getTo()};
}

LogicalResult TakeGroupOp::verify() { return verifyForAllCopies(*this); }

LogicalResult
TakeGroupOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifyCopiesPlace(*this)))
    return failure();
  SegmentAttr segment = getSegment(*this, getAt());
  if (segment && segment.getRole() != Role::moment)
    return emitOpError("expected a segment of role moment, got segment ")
           << getAt().getNumber() << " of role "
           << stringifyRole(segment.getRole());
  return success();
}

SmallVector<CommandAccess> TakeGroupOp::getAccesses() {
  return {{CommandAccess::Kind::write, getAt(), int64_t(getBytes()),
           CommandAccess::Instances::all}};
}

//===----------------------------------------------------------------------===//
// Messages between stages
//===----------------------------------------------------------------------===//

/// Checks a send or a receive.
template <typename OpTy>
static LogicalResult verifyMessage(OpTy op) {
  auto stage = static_cast<int64_t>(op.getStage());
  auto schedule = op->template getParentOfType<ScheduleOp>();
  if (stage < 0 || stage == static_cast<int64_t>(schedule.getStage()))
    return op.emitOpError(
               "expected the number of another stage than its own, got ")
           << stage;
  if (getTurns(op))
    return op.emitOpError(
        "is for all copies, but stands in turns of some of them");
  return success();
}

LogicalResult SendOp::verify() { return verifyMessage(*this); }

LogicalResult
SendOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifyAllHold(*this, getAt());
}

SmallVector<CommandAccess> SendOp::getAccesses() {
  return {{CommandAccess::Kind::read, getAt(), int64_t(getBytes())}};
}

std::optional<CommandMessage> SendOp::findMessage() {
  return CommandMessage{int64_t(getStage()), /*isSent=*/true, getAt(),
                        int64_t(getBytes())};
}

LogicalResult ReceiveOp::verify() {
  if (getAhead() > 0 && !isInMicroBatches(*this))
    return emitOpError("needs a micro-batch to look ahead from, got ahead = ")
           << getAhead();
  return verifyMessage(*this);
}

LogicalResult
ReceiveOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifyAllHold(*this, getAt());
}

SmallVector<CommandAccess> ReceiveOp::getAccesses() {
  return {{CommandAccess::Kind::write, getAt(), int64_t(getBytes())}};
}

std::optional<CommandMessage> ReceiveOp::findMessage() {
  return CommandMessage{int64_t(getStage()), /*isSent=*/false, getAt(),
                        int64_t(getBytes())};
}
