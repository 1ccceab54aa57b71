//===- HftaScheduleOps.cpp - Tasks and schedules --------------------------===//

#include "ScheduleVerifiers.h"

#include "Hfta/Support/TaskNames.h"

#include <set>

using namespace mlir;
using namespace mlir::hfta;

/// Checks that numbers of segments are strictly ascending and exist in the
/// module's table.
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
             << number << ", but there are " << count;
  if (getCopy() && getPerCopy())
    return emitOpError("is for copy ")
           << *getCopy() << " alone and so can't run once per copy";
  if (getOnly() && (!getPerCopy() || !llvm::is_sorted(*getOnly())))
    return emitOpError("must run once per copy and list copies, ascending, to "
                       "be for some copies alone");
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
    return emitOpError("expected the number of a block, or -1, got ") << block;
  if (failed(verifySegments(*this, "reads", getReads())))
    return failure();
  return verifySegments(*this, "writes", getWrites());
}

std::string TaskOp::getTaskName() {
  return TaskAttr::makeName(getPart(), static_cast<int64_t>(getBlock()),
                            getReplicasAttr());
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

/// Checks constraint (C5) of `hfta.task`: the bytes that it needs of its
/// workspaces.
static LogicalResult verifyWorkspace(TaskOp task, ArrayRef<int64_t> needed) {
  ArrayAttr segments = SegmentAttr::getTable(task);
  if (!segments)
    return success();
  SmallVector<int64_t> numbers = task.findWorkspaces();
  if (numbers.size() != needed.size())
    return task.emitOpError("touches ")
           << numbers.size() << " segments of role 'workspace', but lists the "
           << "bytes of " << needed.size();
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
      return op.emitOpError("stands in a task, which may hold only launches");
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

/// Checks that a region contains only commands.
static LogicalResult verifyCommands(Region &region) {
  for (Operation &op : region.front())
    if (!isa<ScheduleCommandOpInterface>(op))
      return op.emitOpError(
          "stands in a schedule, which may hold only commands");
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
    return emitOpError("must have a symbol that ends with its stage, or stage "
                       "-1, got stage ")
           << stage;
  return verifySegments(*this, "keeps", getKeeps());
}

Operation *hfta::getTurns(Operation *command) {
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
        // Decide whether the segment's contents outlive a turn. A workspace's
        // don't outlive its task. A segment that isn't resident finds the
        // results of other turns in the store. State must be there for the next
        // call.
        Role role = getSegment(number).getRole();
        bool isLeft =
            role != Role::workspace && getSegment(number).isResident();
        bool isState = isLeft && SegmentAttr::isState(role);
        if (!turns || isState || (known != turns && isLeft))
          kept.insert(number);
      }
  });
  walk([&](ScheduleCommandOpInterface command) {
    if (!command.isForAll())
      return;
    for (const CommandAccess &access : command.getAccesses()) {
      int64_t number = access.place.getNumber();
      // The command's own verifier reports segments that don't exist.
      if (access.place.getSpace() != Space::segment || number < 0 ||
          number >= int64_t(segments.size()))
        continue;
      if (getSegment(number).isResident() || !getTurns(command))
        kept.insert(number);
    }
  });
  // Such a schedule has sums of gradients or moments for another schedule, or
  // gets them from one.
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
    return emitOpError("expected pairs of a case and a micro-batch, got ")
           << order.size() << " numbers";
  auto cases = static_cast<int64_t>(getBody().front().getOperations().size());
  std::set<std::pair<int64_t, int64_t>> known;
  for (size_t i = 0; i < order.size(); i += 2) {
    if (order[i] < 0 || order[i] >= cases || order[i + 1] < 0)
      return emitOpError("has no case ")
             << order[i] << " for micro-batch " << order[i + 1] << ", only "
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
      return op.emitOpError("stands in actions, which may hold only cases");
    if (number.getNumber() != next++)
      return op.emitOpError("must have number ") << next - 1;
  }
  return success();
}

bool hfta::isInMicroBatches(Operation *command) {
  if (command->getParentOfType<CaseOp>())
    return true;
  for (auto outer = command->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == RepeatKind::micro_batches)
      return true;
  return false;
}

/// Checks constraint (C2) of `hfta.every`.
LogicalResult EveryOp::verify() {
  if (!choosesCopies())
    return success();
  for (auto outer = (*this)->getParentOfType<EveryOp>(); outer;
       outer = outer->getParentOfType<EveryOp>())
    if (outer.choosesCopies())
      return emitOpError(
          "chooses copies, but stands in another hfta.every that does");
  return success();
}

bool EveryOp::isConditional() { return true; }

LogicalResult EveryOp::verifyRegions() { return verifyCommands(getBody()); }

LogicalResult RepeatOp::verify() {
  if (auto copies = getCopies(); copies && getOver() != RepeatKind::turns)
    return emitOpError("over ")
           << stringifyRepeatKind(getOver()) << " can't be for "
           << int64_t(*copies) << " copies at a time";
  for (auto outer = (*this)->getParentOfType<RepeatOp>(); outer;
       outer = outer->getParentOfType<RepeatOp>())
    if (outer.getOver() == getOver())
      return emitOpError("over ") << stringifyRepeatKind(getOver())
                                  << " stands in another such repeat";
  return success();
}

LogicalResult RepeatOp::verifyRegions() { return verifyCommands(getBody()); }

bool OnlyOp::isConditional() { return true; }

CommandReplicas OnlyOp::getReplicaSets() { return {getReplicas(), {}, {}}; }

/// Checks constraint (C2) of `hfta.only`.
LogicalResult OnlyOp::verify() {
  if ((*this)->getParentOfType<OnlyOp>())
    return emitOpError("stands in another hfta.only");
  if (isInMicroBatches(*this))
    return emitOpError("stands in commands for a rank's own micro-batches");
  return success();
}

/// Checks constraint (C3) of `hfta.only`, and the part of (C2) about its body.
LogicalResult OnlyOp::verifyRegions() {
  if (failed(verifyCommands(getBody())))
    return failure();
  Operation *wrong = nullptr;
  walk([&](ScheduleCommandOpInterface command) {
    auto repeat = dyn_cast<RepeatOp>(*command);
    if (command.isForAll() ||
        (repeat && repeat.getOver() == RepeatKind::micro_batches))
      wrong = command;
    return wrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!wrong)
    return success();
  return wrong->emitOpError("is for all replicas, but stands in "
                            "commands only for replicas ")
         << getReplicas();
}

/// Checks constraint (C5) of `hfta.run`: the replicas that run the task hold
/// all segments that it accesses.
static LogicalResult verifyHolders(RunOp run, TaskOp task) {
  auto only = run->getParentOfType<OnlyOp>();
  auto isHeld = [&](ReplicasAttr holders) {
    return !holders || (only && only.getReplicas().isWithin(holders));
  };
  if (!isHeld(task.getReplicasAttr()))
    return run.emitOpError("runs ")
           << run.getTaskAttr() << ", which is only for replicas "
           << task.getReplicasAttr();
  ArrayAttr segments = SegmentAttr::getTable(run);
  for (ArrayRef<int64_t> numbers : {task.getReads(), task.getWrites()})
    for (int64_t number : numbers) {
      if (!segments || number < 0 || number >= int64_t(segments.size()))
        continue;
      auto segment = dyn_cast<SegmentAttr>(segments[number]);
      if (segment && !isHeld(segment.getHolders()))
        return run.emitOpError("runs ")
               << run.getTaskAttr() << ", which touches segment " << number
               << ", held only by replicas " << segment.getHolders();
    }
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto task = symbolTable.lookupNearestSymbolFrom<TaskOp>(*this, getTaskAttr());
  if (!task)
    return emitOpError("names no task: ") << getTaskAttr();
  if (failed(verifyHolders(*this, task)))
    return failure();
  if (getTurns(*this) && !task.getByCopies())
    return emitOpError("stands in turns, but task ")
           << getTaskAttr() << " can't run by copies";
  return success();
}

LogicalResult hfta::verifyPlace(Operation *op, PlaceAttr place, int64_t bytes,
                                bool mayBeInArena) {
  if (place.getNumber() < 0 || place.getOffset() < 0 || place.getStride() < 0)
    return op->emitOpError("has no such place: ") << place;
  ArrayAttr segments = SegmentAttr::getTable(op);
  bool isSegment =
      place.getSpace() == Space::segment || place.getSpace() == Space::host;
  if (!segments || !isSegment)
    return success();
  if (place.getNumber() >= static_cast<int64_t>(segments.size()))
    return op->emitOpError("has no such place: ")
           << place << ", as there are " << segments.size() << " segments";
  auto segment = dyn_cast<SegmentAttr>(segments[place.getNumber()]);
  if (segment && !segment.isResident() && !mayBeInArena)
    return op->emitOpError("needs memory that stays, but segment ")
           << place.getNumber() << " is "
           << stringifyResidency(segment.getResidency());
  if (segment && (place.getOffset() > segment.getBytes() ||
                  bytes > segment.getBytes() - place.getOffset()))
    return op->emitOpError("ends at byte ")
           << static_cast<uint64_t>(place.getOffset()) + bytes << " of segment "
           << place.getNumber() << ", which has " << segment.getBytes();
  return success();
}

static bool isOfCaller(PlaceAttr place) {
  return place.getSpace() == Space::field || place.getSpace() == Space::port;
}

LogicalResult TransferOp::verify() {
  if (isOfCaller(getTo()))
    return emitOpError("can't write to ")
           << getTo() << ", which belongs to the caller";
  if (getFrom().getSpace() != Space::segment &&
      getTo().getSpace() != Space::segment)
    return emitOpError("must begin or end in a segment");
  return success();
}

SmallVector<CommandAccess> TransferOp::getAccesses() {
  auto bytes = static_cast<int64_t>(getBytes());
  return {{CommandAccess::Kind::read, getFrom(), bytes},
          {CommandAccess::Kind::write, getTo(), bytes}};
}

SmallVector<CommandAccess> FillOp::getAccesses() {
  return {{CommandAccess::Kind::write, getAt().withoutStride(),
           int64_t(getBytes()), CommandAccess::Instances::all}};
}

std::optional<CommandEvent> RecordOp::findEvent() {
  return CommandEvent{int64_t(getEvent()), int64_t(getInstances()),
                      /*isRecord=*/true};
}

std::optional<CommandEvent> AwaitOp::findEvent() {
  return CommandEvent{int64_t(getEvent()), int64_t(getInstances()),
                      /*isRecord=*/false};
}
