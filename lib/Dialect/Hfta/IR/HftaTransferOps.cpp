//===- HftaTransferOps.cpp - Commands between memory and store ------------===//

#include "ScheduleVerifiers.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the segment of a command; null if the module's table has no such
/// segment.
template <typename OpTy>
static SegmentAttr getSegment(OpTy op) {
  ArrayAttr segments = SegmentAttr::getTable(op);
  auto number = static_cast<int64_t>(op.getSegment());
  if (!segments || number < 0 || number >= int64_t(segments.size()))
    return nullptr;
  return dyn_cast<SegmentAttr>(segments[number]);
}

/// Returns the number of copies in a turn around the command; nothing if the
/// command is outside of turns or the runtime chooses their size.
static std::optional<int64_t> findTurnCopies(Operation *op) {
  for (auto outer = op->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == RepeatKind::turns)
      return outer.getCopies();
  return std::nullopt;
}

/// Checks constraints (C6) and (C7) of `hfta.fetch`.
template <typename OpTy>
static LogicalResult verifyPosition(OpTy op) {
  if (op.getAhead() > 0 && !isInMicroBatches(op))
    return op.emitOpError(
               "needs a micro-batch to look ahead from, got ahead = ")
           << op.getAhead();
  for (auto outer = op->template getParentOfType<EveryOp>(); outer;
       outer = outer->template getParentOfType<EveryOp>())
    if (outer.choosesCopies())
      return op.emitOpError(
                 "is for all copies of a turn, but stands in commands for "
                 "copies that are '")
             << stringifyDueKind(outer.getWhich()) << "'";
  return success();
}

/// Checks that the segment exists and isn't resident, and constraint (C8) of
/// `hfta.fetch`.
template <typename OpTy>
static LogicalResult verifySegment(OpTy op) {
  auto number = static_cast<int64_t>(op.getSegment());
  ArrayAttr segments = SegmentAttr::getTable(op);
  SegmentAttr segment = getSegment(op);
  if (!segment)
    return op.emitOpError("names segment ")
           << number << ", but there are " << (segments ? segments.size() : 0)
           << " segments";
  if (segment.isResident())
    return op.emitOpError("needs a segment that isn't resident, but segment ")
           << number << " is";
  auto schedule = op->template getParentOfType<ScheduleOp>();
  bool isKept = llvm::is_contained(schedule.getKeeps(), number);
  if (segment.getCopyBytes() > 0 && !isKept && !findTurnCopies(op))
    return op.emitOpError(
               "needs turns of a given number of copies, as the slabs of "
               "segment ")
           << number << " aren't kept";
  return success();
}

/// Checks a command that uses the store: its segment must be spilled, and it
/// mustn't be in the host's queue, which would wait for the store.
template <typename OpTy>
static LogicalResult verifyStored(OpTy op) {
  if (SegmentAttr segment = getSegment(op);
      segment.getResidency() != Residency::spilled)
    return op.emitOpError("needs a spilled segment, but segment ")
           << op.getSegment() << " is "
           << stringifyResidency(segment.getResidency());
  if (op.getQueue() == 0)
    return op.emitOpError("needs a queue above 0, which is the host's own");
  return success();
}

std::optional<int64_t> FetchOp::findInstanceBytes() {
  SegmentAttr segment = ::getSegment(*this);
  if (!segment)
    return std::nullopt;
  auto schedule = (*this)->getParentOfType<ScheduleOp>();
  if (segment.getCopyBytes() == 0 ||
      llvm::is_contained(schedule.getKeeps(), int64_t(getSegment())))
    return segment.getBytes();
  std::optional<int64_t> copies = findTurnCopies(*this);
  if (!copies)
    return std::nullopt;
  int64_t all = segment.getBytes() / segment.getCopyBytes();
  return std::min(*copies, all) * segment.getCopyBytes();
}

LogicalResult FetchOp::verify() {
  auto address = static_cast<int64_t>(getAddress());
  if (address < 0 || address % SegmentAttr::kPageBytes != 0)
    return emitOpError("needs a place at a multiple of ")
           << SegmentAttr::kPageBytes << " bytes, got " << address;
  return verifyPosition(*this);
}

LogicalResult
FetchOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifySegment(*this)))
    return failure();
  if (getContents() == Contents::stored && failed(verifyStored(*this)))
    return failure();
  int64_t most = ::getSegment(*this).getInstances();
  auto instances = static_cast<int64_t>(getInstances());
  if (instances > most)
    return emitOpError("needs places for 1 to ")
           << most << " instances of segment " << getSegment() << ", got "
           << instances;
  auto arena = (*this)->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(
      HftaDialect::kArenaAttrName);
  int64_t bytes = arena ? arena.getInt() : 0;
  auto address = static_cast<int64_t>(getAddress());
  if (address > bytes || instances * *findInstanceBytes() > bytes - address)
    return emitOpError("ends at byte ")
           << address + instances * *findInstanceBytes()
           << " of the arena, which has " << bytes;
  return success();
}

LogicalResult EvictOp::verify() { return verifyPosition(*this); }

LogicalResult
EvictOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifySegment(*this)))
    return failure();
  return verifyStored(*this);
}

LogicalResult DropOp::verify() { return verifyPosition(*this); }

LogicalResult
DropOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifySegment(*this);
}
