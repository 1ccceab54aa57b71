//===- HftaScheduleOps.cpp - Tasks and schedules --------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"

#include <set>

using namespace mlir;
using namespace mlir::hfta;

/// Numbers of segments, each once and in order.
static LogicalResult verifySegments(Operation *op, StringRef what,
                                    ArrayRef<int64_t> numbers) {
  ArrayAttr segments = SegmentAttr::getTable(op);
  int64_t last = -1;
  for (int64_t number : numbers) {
    if (number <= last)
      return op->emitOpError()
             << what << " must number segments in ascending order, got "
             << number << " after " << last;
    if (segments && number >= static_cast<int64_t>(segments.size()))
      return op->emitOpError() << what << " segment " << number
                               << ", there are " << segments.size();
    last = number;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  auto count = static_cast<int64_t>(getBindings().size());
  auto inputs = static_cast<int64_t>(getInputs());
  if (inputs < 0 || inputs > count)
    return emitOpError("reads ") << inputs << " of " << count << " bindings";
  for (int64_t number : getWritten())
    if (number < 0 || number >= count)
      return emitOpError("writes binding ")
             << number << ", there are " << count;
  if (getCopy() && getPerCopy())
    return emitOpError("is copy ")
           << *getCopy() << "'s own and so can't run once a copy";
  if (getJoins() && !isa_and_nonnull<LaunchOp>((*this)->getPrevNode()))
    return emitOpError("joins a launch, but none stands before it");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (symbolTable.lookupNearestSymbolFrom(*this, getKernelAttr()))
    return success();
  return emitOpError("names no kernel: ") << getKernelAttr();
}

//===----------------------------------------------------------------------===//
// TaskOp
//===----------------------------------------------------------------------===//

LogicalResult TaskOp::verify() {
  if (getPart().empty())
    return emitOpError("needs a part");
  if (auto block = static_cast<int64_t>(getBlock()); block < -1)
    return emitOpError("must be of a block, or of the whole program, -1; got ")
           << block;
  if (failed(verifySegments(*this, "reads", getReads())))
    return failure();
  return verifySegments(*this, "writes", getWrites());
}

std::string TaskOp::getTaskName() {
  return TaskAttr::makeName(getPart(), static_cast<int64_t>(getBlock()));
}

SmallVector<int64_t> TaskOp::findWorkspaces() {
  SmallVector<int64_t> found;
  ArrayAttr segments = SegmentAttr::getTable(*this);
  if (!segments)
    return found;
  std::set<int64_t> touched(getReads().begin(), getReads().end());
  touched.insert(getWrites().begin(), getWrites().end());
  for (int64_t number : touched)
    if (cast<SegmentAttr>(segments[number]).getRole() == Role::workspace)
      found.push_back(number);
  return found;
}

/// C5.
static LogicalResult verifyWorkspace(TaskOp task, ArrayRef<int64_t> needed) {
  ArrayAttr segments = SegmentAttr::getTable(task);
  if (!segments)
    return success();
  SmallVector<int64_t> numbers = task.findWorkspaces();
  if (numbers.size() != needed.size())
    return task.emitOpError("touches ")
           << numbers.size() << " segments of role 'workspace', but tells of "
           << needed.size() << " how much it needs";
  DenseMap<int64_t, int64_t> neededOf;
  for (auto [number, bytes] : llvm::zip(numbers, needed)) {
    int64_t all = cast<SegmentAttr>(segments[number]).getUnitBytes();
    if (bytes < 0 || bytes > all)
      return task.emitOpError("needs ") << bytes << " bytes of segment "
                                        << number << ", which has " << all;
    neededOf[number] = bytes;
  }
  for (auto launch : task.getBody().getOps<LaunchOp>())
    for (auto place : launch.getBindings().getAsRange<BindingAttr>())
      if (auto known = neededOf.find(place.getSegment());
          known != neededOf.end() && place.getOffset() > known->second)
        return launch.emitOpError("is at byte ")
               << place.getOffset() << " of segment " << place.getSegment()
               << ", of which its task needs " << known->second;
  return success();
}

LogicalResult TaskOp::verifyRegions() {
  std::set<int64_t> reads, writes;
  for (Operation &op : getBody().front()) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      return op.emitOpError("stands in a task, which holds launches alone");
    for (auto [index, binding] : llvm::enumerate(launch.getBindings())) {
      int64_t segment = cast<BindingAttr>(binding).getSegment();
      auto number = static_cast<int64_t>(index);
      if (number < static_cast<int64_t>(launch.getInputs()))
        reads.insert(segment);
      if (llvm::is_contained(launch.getWritten(), number))
        writes.insert(segment);
    }
  }
  if (!llvm::equal(reads, getReads()))
    return emitOpError("must list the segments that its launches read");
  if (!llvm::equal(writes, getWrites()))
    return emitOpError("must list the segments that its launches write");
  if (std::optional<ArrayRef<int64_t>> needed = getWorkspace())
    return verifyWorkspace(*this, *needed);
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Nothing but commands.
static LogicalResult verifyCommands(Region &region) {
  for (Operation &op : region.front())
    if (!isa<RunOp, TransferOp, FillOp, AllReduceOp, AllGatherOp, SendOp,
             ReceiveOp, RecordOp, AwaitOp, RepeatOp, EveryOp, ActionsOp>(op))
      return op.emitOpError("stands in a schedule, which holds commands alone");
  return success();
}

std::string ScheduleOp::makeName(StringRef kind, int64_t stage) {
  return stage < 0 ? kind.str() : (kind + "." + Twine(stage)).str();
}

StringRef ScheduleOp::getKind() {
  auto stage = static_cast<int64_t>(getStage());
  return stage < 0 ? getSymName()
                   : getSymName().drop_back(makeName("", stage).size());
}

LogicalResult ScheduleOp::verify() {
  auto stage = static_cast<int64_t>(getStage());
  if (stage < -1 ||
      (stage >= 0 && !getSymName().ends_with(makeName("", stage))))
    return emitOpError("must be the whole program's, or end with the number of "
                       "its stage, got ")
           << stage;
  return verifySegments(*this, "keeps", getKeeps());
}

/// The outermost turns that a command stands in; null outside of turns.
static Operation *getTurns(Operation *command) {
  Operation *turns = nullptr;
  for (auto outer = command->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == RepeatKind::turns)
      turns = outer;
  return turns;
}

SmallVector<int64_t> ScheduleOp::findKept(SymbolTableCollection &symbols) {
  ArrayAttr segments = SegmentAttr::getTable(*this);
  if (!segments)
    return {};
  auto getSegment = [&](int64_t number) {
    return cast<SegmentAttr>(segments[number]);
  };
  std::set<int64_t> kept;
  DenseMap<int64_t, Operation *> turnsOf;
  walk([&](RunOp run) {
    Operation *turns = getTurns(run);
    auto task = symbols.lookupNearestSymbolFrom<TaskOp>(run, run.getTaskAttr());
    if (!task)
      return;
    for (ArrayRef<int64_t> numbers : {task.getReads(), task.getWrites()})
      for (int64_t number : numbers) {
        Operation *known = turnsOf.try_emplace(number, turns).first->second;
        // The workspace lives within a task.
        if (!turns ||
            (known != turns && getSegment(number).getRole() != Role::workspace))
          kept.insert(number);
      }
  });
  walk([&](AllReduceOp reduce) { kept.insert(reduce.getAt().getNumber()); });
  walk([&](AllGatherOp gather) { kept.insert(gather.getAt().getNumber()); });
  walk([&](SendOp send) { kept.insert(send.getAt().getNumber()); });
  walk([&](ReceiveOp receive) { kept.insert(receive.getAt().getNumber()); });
  // Gradients, and moments, wait for an update that is not in the schedule, or
  // come from elsewhere.
  if (getKind() == schedules::kAccumulate || getKind() == schedules::kUpdate)
    for (int64_t number = 0; number < int64_t(segments.size()); ++number)
      if (SegmentAttr::isSummed(getSegment(number).getRole()))
        kept.insert(number);
  SmallVector<int64_t> slabs;
  for (int64_t number : kept)
    if (getSegment(number).getCopyBytes() > 0)
      slabs.push_back(number);
  return slabs;
}

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  for (int64_t number : findKept(symbolTable))
    if (!llvm::is_contained(getKeeps(), number))
      return emitOpError("must keep segment ")
             << number << ": its slabs outlive a turn of copies";
  return success();
}

LogicalResult ScheduleOp::verifyRegions() { return verifyCommands(getBody()); }

LogicalResult CaseOp::verifyRegions() { return verifyCommands(getBody()); }

LogicalResult ActionsOp::verify() {
  ArrayRef<int64_t> order = getOrder();
  if (order.size() % 2 != 0)
    return emitOpError("orders actions, each a case and a micro-batch; got ")
           << order.size() << " numbers";
  auto cases = static_cast<int64_t>(getBody().front().getOperations().size());
  std::set<std::pair<int64_t, int64_t>> known;
  for (size_t i = 0; i < order.size(); i += 2) {
    if (order[i] < 0 || order[i] >= cases || order[i + 1] < 0)
      return emitOpError("has no case ")
             << order[i] << " for micro-batch " << order[i + 1] << ", of "
             << cases << " cases";
    if (!known.emplace(order[i], order[i + 1]).second)
      return emitOpError("orders case ")
             << order[i] << " for micro-batch " << order[i + 1] << " twice";
  }
  return success();
}

LogicalResult ActionsOp::verifyRegions() {
  uint64_t next = 0;
  for (Operation &op : getBody().front()) {
    auto number = dyn_cast<CaseOp>(op);
    if (!number)
      return op.emitOpError("stands in actions, which are cases alone");
    if (number.getNumber() != next++)
      return op.emitOpError("must have number ") << next - 1;
  }
  return success();
}

/// (C2)
LogicalResult EveryOp::verify() {
  if (!choosesCopies())
    return success();
  for (auto outer = (*this)->getParentOfType<EveryOp>(); outer;
       outer = outer->getParentOfType<EveryOp>())
    if (outer.choosesCopies())
      return emitOpError("chooses copies in another one that does");
  return success();
}

LogicalResult EveryOp::verifyRegions() { return verifyCommands(getBody()); }

LogicalResult RepeatOp::verify() {
  for (auto outer = (*this)->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == getOver())
      return emitOpError("over ")
             << stringifyRepeatKind(getOver()) << " stands in another one";
  return success();
}

LogicalResult RepeatOp::verifyRegions() { return verifyCommands(getBody()); }

template <typename OpTy>
static LogicalResult verifyQueue(OpTy op) {
  auto device = static_cast<int64_t>(op.getDevice());
  auto queue = static_cast<int64_t>(op.getQueue());
  if (device < 0 || queue < 0)
    return op.emitOpError("needs a device and a queue, got ")
           << device << " and " << queue;
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto task = symbolTable.lookupNearestSymbolFrom<TaskOp>(*this, getTaskAttr());
  if (!task)
    return emitOpError("names no task: ") << getTaskAttr();
  if (getTurns(*this) && !task.getByCopies())
    return emitOpError("runs ")
           << getTaskAttr() << " in turns, which can't run by copies";
  return verifyQueue(*this);
}

/// A range of a segment must lie in it.
static LogicalResult verifyPlace(Operation *op, PlaceAttr place,
                                 int64_t bytes) {
  if (place.getNumber() < 0 || place.getOffset() < 0 || place.getStride() < 0)
    return op->emitOpError("has no such place: ") << place;
  ArrayAttr segments = SegmentAttr::getTable(op);
  bool isSegment =
      place.getSpace() == Space::segment || place.getSpace() == Space::host;
  if (!segments || !isSegment)
    return success();
  if (place.getNumber() >= static_cast<int64_t>(segments.size()))
    return op->emitOpError("has no such place: ")
           << place << ", there are " << segments.size() << " segments";
  auto segment = dyn_cast<SegmentAttr>(segments[place.getNumber()]);
  if (segment && place.getOffset() + bytes > segment.getBytes())
    return op->emitOpError("ends at byte ")
           << place.getOffset() + bytes << " of segment " << place.getNumber()
           << ", which has " << segment.getBytes();
  return success();
}

static bool isOfCaller(PlaceAttr place) {
  return place.getSpace() == Space::field || place.getSpace() == Space::port;
}

LogicalResult TransferOp::verify() {
  if (auto bytes = static_cast<int64_t>(getBytes()); bytes < 1)
    return emitOpError("must copy at least one byte, got ") << bytes;
  if (isOfCaller(getTo()))
    return emitOpError("writes to ")
           << getTo() << ", which belongs to the caller";
  if (getFrom().getSpace() != Space::segment &&
      getTo().getSpace() != Space::segment)
    return emitOpError("must begin or end in a segment");
  if (auto ahead = static_cast<int64_t>(getAhead()); ahead < 0)
    return emitOpError("looks ahead, not back; got ") << ahead;
  return verifyQueue(*this);
}

LogicalResult
TransferOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifyPlace(*this, getFrom(), getBytes())))
    return failure();
  return verifyPlace(*this, getTo(), getBytes());
}

LogicalResult FillOp::verify() {
  if (getTo().getSpace() != Space::segment)
    return emitOpError("fills segments, not ") << getTo();
  if (auto bytes = static_cast<int64_t>(getBytes()); bytes < 1)
    return emitOpError("must fill at least one byte, got ") << bytes;
  return verifyQueue(*this);
}

LogicalResult
FillOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifyPlace(*this, getTo(), getBytes());
}

/// The segment that a place lies in; null if the table has none.
static SegmentAttr getSegment(Operation *op, PlaceAttr place) {
  ArrayAttr segments = SegmentAttr::getTable(op);
  if (!segments || place.getNumber() >= static_cast<int64_t>(segments.size()))
    return nullptr;
  return cast<SegmentAttr>(segments[place.getNumber()]);
}

/// A command that all ranks give together.
template <typename OpTy>
static LogicalResult verifyOnce(OpTy op) {
  if (auto outer = op->template getParentOfType<RepeatOp>())
    return op.emitOpError("stands in a repeat over ")
           << stringifyRepeatKind(outer.getOver())
           << ", of which each rank has its own number";
  if (op.getQueue() == 0)
    return op.emitOpError("needs a queue after 0, which is the host's own");
  return verifyQueue(op);
}

LogicalResult AllReduceOp::verify() {
  PlaceAttr at = getAt();
  if (at.getSpace() != Space::segment ||
      getThrough().getSpace() != Space::segment)
    return emitOpError("adds up what lies in segments, not from ")
           << getThrough() << " to " << at;
  int64_t block = at.getStride();
  if (auto bytes = static_cast<int64_t>(getBytes());
      block < 1 || bytes < 1 || bytes % block != 0)
    return emitOpError("must add up whole blocks of ")
           << block << " bytes, got " << bytes << " bytes";
  return verifyOnce(*this);
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
  if (failed(verifyPlace(*this, getAt(), getBytes())) ||
      failed(verifyPlace(*this, getThrough(), getAt().getStride())))
    return failure();
  SegmentAttr sums = getSegment(*this, getAt());
  if (sums && !sums.isOfGroups())
    return emitOpError("adds up groups, of which segment ")
           << at << " has none: its role is " << stringifyRole(sums.getRole());
  SegmentAttr received = getSegment(*this, getThrough());
  if (received && received.getRole() != Role::received)
    return emitOpError("receives in segment ")
           << through << ", whose role is "
           << stringifyRole(received.getRole());
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (getAt().getSpace() != Space::segment)
    return emitOpError("gathers in segments, not ") << getAt();
  if (auto bytes = static_cast<int64_t>(getBytes()); bytes < 1)
    return emitOpError("must gather at least one byte, got ") << bytes;
  return verifyOnce(*this);
}

LogicalResult
AllGatherOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  if (failed(verifyPlace(*this, getAt(), getBytes())))
    return failure();
  SegmentAttr segment = getSegment(*this, getAt());
  if (segment && segment.getRole() != Role::exchange)
    return emitOpError("gathers micro-batches' own in segment ")
           << getAt().getNumber() << ", whose role is "
           << stringifyRole(segment.getRole());
  return success();
}

/// Whether a command is given for a certain micro-batch.
static bool isInMicroBatches(Operation *command) {
  if (command->getParentOfType<CaseOp>())
    return true;
  for (auto outer = command->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == RepeatKind::micro_batches)
      return true;
  return false;
}

/// A send or a receive.
template <typename OpTy>
static LogicalResult verifyMessage(OpTy op) {
  if (op.getAt().getSpace() != Space::segment)
    return op.emitOpError("is of what lies in segments, not of ") << op.getAt();
  if (auto bytes = static_cast<int64_t>(op.getBytes()); bytes < 1)
    return op.emitOpError("must be of at least one byte, got ") << bytes;
  auto stage = static_cast<int64_t>(op.getStage());
  auto schedule = op->template getParentOfType<ScheduleOp>();
  if (stage < 0 || stage == static_cast<int64_t>(schedule.getStage()))
    return op.emitOpError("needs another stage than its own, got ") << stage;
  if (op.getQueue() == 0)
    return op.emitOpError("needs a queue after 0, which is the host's own");
  if (getTurns(op))
    return op.emitOpError("is of all copies, but stands in a turn of some");
  return verifyQueue(op);
}

LogicalResult SendOp::verify() { return verifyMessage(*this); }

LogicalResult
SendOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifyPlace(*this, getAt(), getBytes());
}

LogicalResult ReceiveOp::verify() {
  auto ahead = static_cast<int64_t>(getAhead());
  if (ahead < 0 || (ahead > 0 && !isInMicroBatches(*this)))
    return emitOpError("looks ahead from a micro-batch, not back; got ")
           << ahead;
  return verifyMessage(*this);
}

LogicalResult
ReceiveOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  return verifyPlace(*this, getAt(), getBytes());
}

template <typename OpTy>
static LogicalResult verifyEvent(OpTy op) {
  if (auto event = static_cast<int64_t>(op.getEvent()); event < 0)
    return op.emitOpError("needs an event's number, got ") << event;
  auto instances = static_cast<int64_t>(op.getInstances());
  auto ahead = static_cast<int64_t>(op.getAhead());
  if (instances < 1 || ahead < 0)
    return op.emitOpError("needs events to take turns, and looks ahead, not "
                          "back; got ")
           << instances << " and " << ahead;
  return verifyQueue(op);
}

LogicalResult RecordOp::verify() { return verifyEvent(*this); }

LogicalResult AwaitOp::verify() { return verifyEvent(*this); }
