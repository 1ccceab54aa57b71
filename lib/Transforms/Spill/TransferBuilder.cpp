//===- TransferBuilder.cpp - Transfers between a schedule's tasks ---------===//

#include "Spill/TransferBuilder.h"

#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the innermost block of commands that contains all of these.
Block *TransferBuilder::findBlock(ArrayRef<Operation *> runs) {
  Block *block = runs.front()->getBlock();
  for (Operation *run : runs)
    while (!block->getParent()->isAncestor(run->getParentRegion()))
      block = block->getParentOp()->getBlock();
  return block;
}

/// Returns whether a command uses a segment that the schedule has to give a
/// place.
bool TransferBuilder::usesArena(Operation *op) {
  auto isUsed = [&](int64_t number) { return isPlaced(number); };
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return isUsed(reduce.getAt().getNumber());
  auto run = dyn_cast<RunOp>(op);
  if (!run)
    return false;
  auto task = symbols.lookup<TaskOp>(run.getTask());
  return llvm::any_of(task.getReads(), isUsed) ||
         llvm::any_of(task.getWrites(), isUsed);
}

/// Adds a position. Adjacent sums, and the events that order them with tasks,
/// form one position.
void TransferBuilder::addPosition(Operation *op) {
  if (!positions.empty() && (op == positions.back().op ||
                             !positions.back().last->isBeforeInBlock(op)))
    return;
  Position position = {op, op, op};
  if (isa<AllReduceOp>(op)) {
    auto belongs = [](Operation *other) {
      return isa_and_nonnull<AllReduceOp, RecordOp, AwaitOp>(other);
    };
    while (belongs(position.first->getPrevNode()))
      position.first = position.first->getPrevNode();
    while (belongs(position.last->getNextNode()))
      position.last = position.last->getNextNode();
  }
  positions.push_back(position);
}

bool TransferBuilder::findPositions() {
  SmallVector<Operation *> runs;
  schedule.walk([&](Operation *op) {
    if (usesArena(op))
      runs.push_back(op);
  });
  if (runs.empty())
    return false;
  Block *block = findBlock(runs);
  for (Operation *run : runs)
    addPosition(block->findAncestorOpInBlock(*run));
  return true;
}

std::string TransferBuilder::getTaskName(int64_t position) {
  std::string name;
  auto note = [&](StringRef task) {
    name = symbols.lookup<TaskOp>(task).getTaskName();
    return WalkResult::interrupt();
  };
  positions[position].op->walk([&](Operation *op) {
    if (auto run = dyn_cast<RunOp>(op))
      return note(run.getTask());
    if (auto reduce = dyn_cast<AllReduceOp>(op))
      return note(reduce.getTask());
    return WalkResult::advance();
  });
  return name;
}

RepeatOp TransferBuilder::findLoop(RepeatKind over) const {
  for (auto repeat = positions.front().op->getParentOfType<RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<RepeatOp>())
    if (repeat.getOver() == over)
      return repeat;
  return {};
}

/// Returns the number of a segment's instances that have a place in the arena
/// at the same time: one in a loop over micro-batches, otherwise all.
int64_t TransferBuilder::countInstances(SegmentAttr segment) const {
  return findLoop(RepeatKind::micro_batches) ? 1 : segment.getInstances();
}

/// Returns whether values of this role are kept from call to call.
static bool isState(Role role) { return !SegmentAttr::livesWithinStep(role); }

/// Returns the period that chooses the steps in which a task of a position
/// runs; empty if it runs in all steps, or even if no copy is due.
static StringRef findPeriod(RunOp run, Operation *position) {
  for (Operation *op = run; op != position->getParentOp();
       op = op->getParentOp())
    if (auto every = dyn_cast<EveryOp>(op);
        every &&
        (every.getWhich() == DueKind::due || every.getWhich() == DueKind::any))
      return every.getPeriod();
  return {};
}

void TransferBuilder::addUse(ArenaSegment &segment, int64_t position,
                             StringRef period, bool writes) {
  if (segment.uses.empty() || segment.uses.back().position != position)
    segment.uses.push_back({position, false, false, period});
  else if (segment.uses.back().period != period)
    segment.uses.back().period = {};
  (writes ? segment.uses.back().writes : segment.uses.back().reads) = true;
}

SmallVector<ArenaSegment> TransferBuilder::findSegments(int64_t copies) {
  MemoryPlanAttr memory = MemoryPlanAttr::get(module);
  std::map<int64_t, ArenaSegment> segments;
  auto use = [&](int64_t index, int64_t position, StringRef period,
                 bool writes) {
    if (isPlaced(index))
      addUse(segments[index], position, period, writes);
  };
  for (auto [index, position] : llvm::enumerate(positions)) {
    auto number = static_cast<int64_t>(index);
    Operation *op = position.op;
    op->walk([&](RunOp run) {
      auto task = symbols.lookup<TaskOp>(run.getTask());
      StringRef period = findPeriod(run, op);
      for (int64_t read : task.getReads())
        use(read, number, period, /*writes=*/false);
      for (int64_t written : task.getWrites())
        use(written, number, period, /*writes=*/true);
    });
    if (!isa<AllReduceOp>(op))
      continue;
    for (Operation *sum = position.first; sum != position.last->getNextNode();
         sum = sum->getNextNode())
      if (auto reduce = dyn_cast<AllReduceOp>(sum))
        for (bool writes : {false, true})
          use(reduce.getAt().getNumber(), number, /*period=*/{}, writes);
  }
  SmallVector<ArenaSegment> found;
  for (auto &[index, segment] : segments) {
    auto attribute = cast<SegmentAttr>(table[index]);
    int64_t slabs = attribute.getCopyBytes() ? copies : 1;
    segment.number = index;
    segment.bytes =
        attribute.getUnitBytes() * slabs * countInstances(attribute);
    // In turns of several steps, nothing is fetched or evicted between the
    // steps.
    segment.isSpilled = attribute.getResidency() == Residency::spilled &&
                        schedule.getKind() != schedules::kTurnStep;
    segment.isState = isState(attribute.getRole());
    segment.isHeld = memory && attribute.getRole() == Role::parameter &&
                     memory.getBlock(attribute.getBlock()) == BlockMemory::held;
    segment.initial = SegmentAttr::isSummed(attribute.getRole())
                          ? Contents::zeros
                          : Contents::undefined;
    // A value that lives within a call is in the store only if an earlier use
    // in the same call has written it, so all uses must be in the same steps.
    StringRef first = segment.uses.front().period;
    auto isAsFirst = [&](const ArenaUse &use) { return use.period == first; };
    if (!segment.isState && !llvm::all_of(segment.uses, isAsFirst))
      for (ArenaUse &use : segment.uses)
        use.period = {};
    found.push_back(segment);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Finds the windows that had a part of this window's place before, or whose
/// eviction writes the same segment's bytes to the store. Windows that end
/// after this one begins are those of the previous iteration of the loop.
TransferBuilder::Needs TransferBuilder::findNeeds(const ArenaPlan &plan,
                                                  size_t number) {
  const ArenaWindow &window = plan.windows[number];
  Needs needs;
  for (auto [order, index] : llvm::enumerate(byEnd)) {
    const ArenaWindow &other = plan.windows[index];
    bool overlaps =
        other.interval.offset <
            window.interval.offset + window.interval.bytes &&
        window.interval.offset < other.interval.offset + other.interval.bytes;
    if (!overlaps && other.segment != window.segment)
      continue;
    bool isBefore = other.last < window.interval.first;
    int64_t &position = isBefore ? needs.position : needs.lastPosition;
    int64_t &eviction = isBefore ? needs.eviction : needs.lastEviction;
    position = std::max(position, other.last);
    if (other.evicts)
      eviction = static_cast<int64_t>(order);
  }
  return needs;
}

/// Numbers the events for which some queue waits.
void TransferBuilder::findEvents(const ArenaPlan &plan) {
  auto add = [&](std::map<int64_t, int64_t> &events, int64_t key) {
    if (key >= 0)
      nextEvent += events.try_emplace(key, nextEvent).second;
  };
  for (auto [number, window] : llvm::enumerate(plan.windows)) {
    const Needs &own = needs.emplace_back(findNeeds(plan, number));
    if (window.contents == Contents::stored) {
      add(fetchEvents, static_cast<int64_t>(number));
      add(doneEvents, own.position);
      add(doneEvents, own.lastPosition);
    }
    if (window.evicts)
      add(doneEvents, window.last);
    add(evictEvents, own.eviction);
    add(evictEvents, own.lastEviction);
  }
}

/// Builds commands. If there is a period, they run only in steps in which some
/// copy is due.
void TransferBuilder::inStepsOf(StringRef period,
                                llvm::function_ref<void()> body) {
  if (period.empty())
    return body();
  auto every =
      EveryOp::create(builder, schedule.getLoc(), period, DueKind::any);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&every.getBody().emplaceBlock());
  body();
}

/// Gives a window its place before the position at which it begins.
void TransferBuilder::begin(const ArenaPlan &plan, size_t number) {
  const ArenaWindow &window = plan.windows[number];
  const Needs &own = needs[number];
  bool isStored = window.contents == Contents::stored;
  int64_t queue = isStored ? fetches : queues::kTasks;
  inStepsOf(window.period, [&] {
    if (isStored)
      for (int64_t position : {own.lastPosition, own.position})
        if (position >= 0)
          await(doneEvents.at(position), queue);
    for (int64_t eviction : {own.lastEviction, own.eviction})
      if (eviction >= 0)
        await(evictEvents.at(eviction), queue);
    FetchOp::create(builder, schedule.getLoc(), window.segment,
                    window.interval.offset, window.contents,
                    countInstances(cast<SegmentAttr>(table[window.segment])),
                    /*ahead=*/0, /*device=*/0, queue);
    if (isStored)
      record(fetchEvents.at(static_cast<int64_t>(number)), fetches);
  });
}

/// Frees a window's place after the last position that uses it.
void TransferBuilder::end(const ArenaPlan &plan, size_t order) {
  const ArenaWindow &window = plan.windows[byEnd[order]];
  auto event = evictEvents.find(static_cast<int64_t>(order));
  inStepsOf(window.period, [&] {
    if (window.evicts) {
      await(doneEvents.at(window.last), evictions);
      EvictOp::create(builder, schedule.getLoc(), window.segment, /*ahead=*/0,
                      /*device=*/0, evictions);
    }
    DropOp::create(builder, schedule.getLoc(), window.segment, /*ahead=*/0,
                   /*device=*/0, queues::kTasks);
  });
  // The event is recorded in all steps, because a queue that waits for it also
  // waits for the earlier commands of this queue.
  if (event != evictEvents.end())
    record(event->second, evictions);
}

/// Ends the windows whose last position is this one.
void TransferBuilder::finishPosition(const ArenaPlan &plan, int64_t position) {
  if (doneEvents.count(position))
    record(doneEvents.at(position), queues::kTasks);
  for (auto [order, index] : llvm::enumerate(byEnd))
    if (plan.windows[index].last == position)
      end(plan, order);
}

void TransferBuilder::build(const ArenaPlan &plan) {
  for (size_t number = 0; number < plan.windows.size(); ++number)
    byEnd.push_back(number);
  llvm::sort(byEnd, [&](size_t a, size_t b) {
    return std::pair(plan.windows[a].last, a) <
           std::pair(plan.windows[b].last, b);
  });
  findEvents(plan);
  for (auto [index, span] : llvm::enumerate(positions)) {
    auto position = static_cast<int64_t>(index);
    builder.setInsertionPoint(span.first);
    for (auto [number, window] : llvm::enumerate(plan.windows))
      if (window.interval.first == position)
        begin(plan, number);
    for (auto [number, window] : llvm::enumerate(plan.windows))
      if (window.first == position && window.contents == Contents::stored)
        await(fetchEvents.at(static_cast<int64_t>(number)), queues::kTasks);
    builder.setInsertionPointAfter(span.last);
    finishPosition(plan, position);
  }
}
