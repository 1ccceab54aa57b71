//===- ScheduleTransfers.cpp - Segments come into the arena and leave it --===//
//
// Schedules are there, and segments that aren't resident have no place yet. Of
// each schedule the tasks that use such segments, and what adds up groups' sums
// in them, are positions in a row; the arena's plan says in which windows of
// positions a segment lies where. Fetches from the store go through one queue,
// evictions through another one, so that tasks go on meanwhile; events order
// them with the tasks and with each other.
//===----------------------------------------------------------------------===//

#include "ArenaPlan.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Transforms/MemoryNeeds.h"
#include "Hfta/Transforms/Passes.h"
#include "ScheduleBuilder.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASCHEDULETRANSFERS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// What runs at one position, with the commands beside it that tasks' queue
/// waits for: transfers come before, or behind, all of it.
struct Position {
  Operation *op, *first, *last;
};

/// Puts the transfers of one schedule between its commands.
class TransferBuilder {
public:
  TransferBuilder(ScheduleOp schedule, int64_t firstEvent, int64_t queue)
      : schedule(schedule), module(schedule->getParentOfType<ModuleOp>()),
        symbols(module), table(SegmentAttr::getTable(module)),
        builder(schedule.getContext()), nextEvent(firstEvent), fetches(queue),
        evictions(queue + 1) {}

  /// Whether some task uses what isn't resident.
  bool findPositions();
  /// What repeats all positions in this way, if something does.
  RepeatOp findLoop(RepeatKind over) const;
  /// What the arena holds for the tasks, of turns of so many copies.
  SmallVector<ArenaSegment> findSegments(int64_t copies);
  void build(const ArenaPlan &plan);
  /// The task at a position, or the first of several.
  std::string getTaskName(int64_t position) {
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

private:
  /// What a queue must await before it may touch a window's place.
  struct Needs {
    /// The last position, or eviction, of this round and of the one before: the
    /// commands stand in a loop.
    int64_t position = -1, lastPosition = -1;
    int64_t eviction = -1, lastEviction = -1;
  };

  Block *findBlock(ArrayRef<Operation *> runs);
  bool usesArena(Operation *op);
  void addPosition(Operation *op);
  void addUse(ArenaSegment &segment, int64_t position, StringRef period,
              bool writes);
  int64_t countInstances(SegmentAttr segment) const;
  Needs findNeeds(const ArenaPlan &plan, size_t number);
  void await(int64_t event, int64_t queue) {
    AwaitOp::create(builder, schedule.getLoc(), event, /*instances=*/1,
                    /*ahead=*/0, /*device=*/0, queue);
  }
  void record(int64_t event, int64_t queue) {
    RecordOp::create(builder, schedule.getLoc(), event, /*instances=*/1,
                     /*ahead=*/0, /*device=*/0, queue);
  }
  void findEvents(const ArenaPlan &plan);
  void inStepsOf(StringRef period, llvm::function_ref<void()> body);
  void begin(const ArenaPlan &plan, size_t number);
  void end(const ArenaPlan &plan, size_t order);
  void finishPosition(const ArenaPlan &plan, int64_t position);

  ScheduleOp schedule;
  ModuleOp module;
  SymbolTable symbols;
  ArrayAttr table;
  OpBuilder builder;
  int64_t nextEvent, fetches, evictions;
  SmallVector<Position> positions;
  /// Of positions that are done, of windows by their numbers that are fetched,
  /// of windows by their order in `byEnd` that are evicted.
  std::map<int64_t, int64_t> doneEvents, fetchEvents, evictEvents;
  /// Windows by the end of their use: the order in which they are evicted.
  SmallVector<size_t> byEnd;
  SmallVector<Needs> needs; ///< of windows
};

} // namespace

/// The innermost block of commands around all of these.
Block *TransferBuilder::findBlock(ArrayRef<Operation *> runs) {
  Block *block = runs.front()->getBlock();
  for (Operation *run : runs)
    while (!block->getParent()->isAncestor(run->getParentRegion()))
      block = block->getParentOp()->getBlock();
  return block;
}

/// Whether a command uses what isn't resident.
bool TransferBuilder::usesArena(Operation *op) {
  auto isElsewhere = [&](int64_t number) {
    return !cast<SegmentAttr>(table[number]).isResident();
  };
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return isElsewhere(reduce.getAt().getNumber());
  auto run = dyn_cast<RunOp>(op);
  if (!run)
    return false;
  auto task = symbols.lookup<TaskOp>(run.getTask());
  return llvm::any_of(task.getReads(), isElsewhere) ||
         llvm::any_of(task.getWrites(), isElsewhere);
}

/// Neighbouring sums, and what orders them with tasks, are one position.
void TransferBuilder::addPosition(Operation *op) {
  if (!positions.empty() && (op == positions.back().op ||
                             !positions.back().last->isBeforeInBlock(op)))
    return;
  Position position = {op, op, op};
  if (isa<AllReduceOp>(op)) {
    auto belongs = [](Operation *other) {
      return other && isa<AllReduceOp, RecordOp, AwaitOp>(other);
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

RepeatOp TransferBuilder::findLoop(RepeatKind over) const {
  for (auto repeat = positions.front().op->getParentOfType<RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<RepeatOp>())
    if (repeat.getOver() == over)
      return repeat;
  return {};
}

/// For how many instances of a segment there are places.
int64_t TransferBuilder::countInstances(SegmentAttr segment) const {
  return findLoop(RepeatKind::micro_batches) ? 1 : segment.getInstances();
}

/// Whether what has this role lives on from call to call.
static bool isState(Role role) { return !SegmentAttr::livesWithinStep(role); }

/// What chooses steps for a task within a position; empty: nothing, or also
/// those of which no copy is due.
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
    if (!cast<SegmentAttr>(table[index]).isResident())
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
    segment.isSpilled = attribute.getResidency() == Residency::spilled;
    segment.isState = isState(attribute.getRole());
    segment.isHeld = memory && attribute.getRole() == Role::parameter &&
                     memory.getBlock(attribute.getBlock()) == BlockMemory::held;
    segment.initial = SegmentAttr::isSummed(attribute.getRole())
                          ? Contents::zeros
                          : Contents::undefined;
    // What lives within a call is stored where something was before.
    auto isAsFirst = [&](const ArenaUse &use) {
      return use.period == segment.uses.front().period;
    };
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

/// Those that had some of the window's place before, or have the same segment's
/// bytes on their way to the store. Of windows that end behind this one's begin
/// they are those of the round before.
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

/// Numbers the events that something awaits.
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

/// Where a period is given, in steps that are due for some copy.
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

/// Gives a window its place, in front of the position at which it begins.
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

/// Takes a window its place, behind the last position that uses it.
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
  // In all steps: who awaits it awaits what the queue has done before, too.
  if (event != evictEvents.end())
    record(event->second, evictions);
}

/// What ends behind a position.
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The number behind those of all events.
static int64_t findFirstEvent(ModuleOp module) {
  int64_t next = 0;
  auto note = [&](auto op) {
    next = std::max<int64_t>(next, op.getEvent() + op.getInstances());
  };
  module.walk([&](RecordOp record) { note(record); });
  module.walk([&](AwaitOp await) { note(await); });
  return next;
}

namespace {
/// With how much memory there is a plan, and the task that needs most.
struct Shortage {
  int64_t bytes = 0;
  std::string task;
};

/// A schedule, and the plan of what the arena holds in it.
struct Planned {
  TransferBuilder builder;
  RepeatOp turns;
  ArenaPlan plan;
};

} // namespace

static std::vector<Planned> listSchedules(ModuleOp module) {
  std::vector<Planned> all;
  int64_t firstEvent = findFirstEvent(module);
  for (auto schedule : module.getOps<ScheduleOp>()) {
    TransferBuilder builder(schedule, firstEvent, queues::kSends);
    if (builder.findPositions()) {
      RepeatOp turns = builder.findLoop(RepeatKind::turns);
      all.push_back({std::move(builder), turns, {}});
    }
  }
  return all;
}

static std::string findNeediest(std::vector<Planned> &all) {
  Planned *most = nullptr;
  for (Planned &planned : all)
    if (!most || planned.plan.bytes > most->plan.bytes)
      most = &planned;
  return most ? most->builder.getTaskName(most->plan.findFullest()) : "";
}

/// Plans for turns of so many copies; gives the memory that the program then
/// needs.
static int64_t plan(ModuleOp module, const Job &job, int64_t copies,
                    std::vector<Planned> &all) {
  int64_t arena = 0;
  module.walk([&](RepeatOp repeat) {
    if (repeat.getOver() == RepeatKind::turns)
      repeat.setCopies(copies);
  });
  int64_t resident = countResidentBytes(module, job, copies);
  for (Planned &planned : all) {
    planned.plan = planArena(
        planned.builder.findSegments(planned.turns ? copies : job.copies),
        job.memoryDevice - resident);
    arena = std::max(arena, planned.plan.bytes);
  }
  return resident + arena;
}

/// Copies in a turn, as far as a plan and the program's threads allow.
static int64_t getMostCopies(ModuleOp module, const Job &job) {
  MemoryPlanAttr memory = MemoryPlanAttr::get(module);
  return std::min({job.copies, job.memoryThreads,
                   memory ? memory.getCopies() : job.copies});
}

TransferNeeds hfta::measureTransfers(ModuleOp module, const Job &job) {
  std::vector<Planned> all = listSchedules(module);
  TransferNeeds needs;
  needs.copies = getMostCopies(module, job);
  needs.bytes = needs.leastBytes = plan(module, job, needs.copies, all);
  for (int64_t copies = needs.copies / 2;
       copies > 0 && needs.leastBytes > job.memoryDevice; copies /= 2)
    needs.leastBytes =
        std::min(needs.leastBytes, plan(module, job, copies, all));
  needs.residentBytes = countResidentBytes(module, job, needs.copies);
  needs.residentBytesOfOne = countResidentBytes(module, job, /*copies=*/1);
  needs.takesTurns = llvm::any_of(
      all, [](const Planned &planned) { return bool(planned.turns); });
  return needs;
}

namespace {
struct ScheduleTransfersPass
    : hfta::impl::HftaScheduleTransfersBase<ScheduleTransfersPass> {
  using HftaScheduleTransfersBase::HftaScheduleTransfersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::readPlanned(module);
    if (failed(job))
      return signalPassFailure();
    if (!job->hasBudget())
      return;
    if (module->hasAttr(HftaDialect::kArenaAttrName)) {
      if (failed(check(module, *job)))
        signalPassFailure();
      return;
    }
    if (failed(schedule(module, *job)))
      signalPassFailure();
  }

  /// Kernels that were lowered for another processor than the one that the
  /// transfers were planned for may need more.
  static LogicalResult check(ModuleOp module, const Job &job) {
    int64_t copies = job.copies;
    module.walk(
        [&](RepeatOp repeat) { copies = repeat.getCopies().value_or(copies); });
    int64_t needed =
        countResidentBytes(module, job, copies) +
        module->getAttrOfType<IntegerAttr>(HftaDialect::kArenaAttrName)
            .getInt();
    if (needed <= job.memoryDevice)
      return success();
    return module.emitError("the program needs ")
           << needed << " bytes of memory, but the budget is "
           << job.memoryDevice << ": compile the job again";
  }

  LogicalResult schedule(ModuleOp module, const Job &job) {
    int64_t bytes = 0;
    std::vector<Planned> all = listSchedules(module);
    int64_t copies = getMostCopies(module, job);
    Shortage least;
    for (; copies > 0; copies /= 2) {
      int64_t needed = plan(module, job, copies, all);
      if (needed <= job.memoryDevice)
        break;
      if (least.bytes == 0 || needed < least.bytes)
        least = {needed, findNeediest(all)};
    }
    if (copies == 0) {
      InFlightDiagnostic error = module.emitError("no plan fits into ")
                                 << job.memoryDevice
                                 << " bytes of memory: one does into "
                                 << least.bytes;
      if (!least.task.empty())
        error << ", which task '" << least.task << "' needs";
      return failure();
    }
    for (Planned &planned : all) {
      planned.builder.build(planned.plan);
      bytes = std::max(bytes, planned.plan.bytes);
    }
    module->setAttr(HftaDialect::kArenaAttrName,
                    Builder(module.getContext()).getI64IntegerAttr(bytes));
    return success();
  }
};
} // namespace
