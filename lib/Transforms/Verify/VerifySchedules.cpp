//===- VerifySchedules.cpp - Checks the accesses of commands --------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Spill/TurnsOfSteps.h"
#include "Verify/ArenaContents.h"
#include "Verify/ScheduleClocks.h"
#include "Verify/ScheduleContents.h"
#include "Verify/VerifyMessages.h"

#include <map>
#include <set>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAVERIFYSCHEDULES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Follows several calls of one schedule, command by command, in the host's
/// order. After each call, the host waits until everything is done. So nothing
/// is in flight before a call, except before `initialize`.
class ScheduleWalk : public ScheduleTraversal {
public:
  /// Follows one of the ranks that share the stage's replicas. With `offered`,
  /// the host offers the next call's batch in each call.
  ScheduleWalk(ModuleOp module, const Job &job, int64_t stage, StageRank rank,
               bool offered)
      : ScheduleTraversal(rank, {}, 0), job(job), stage(stage), symbols(module),
        segments(SegmentAttr::getTable(module)), offered(offered),
        contents(module, symbols, job, rank), arena(segments) {}

  LogicalResult follow(ScheduleOp schedule) {
    for (const Call &call : listCalls(schedule)) {
      begin(call);
      if (!call.isChosen)
        idle = findPeriods(schedule->getParentOp());
      if (schedule.getKind() == schedules::kInitialize)
        resetSegments();
      if (failed(traverse(schedule.getBody().front())) ||
          failed(contents.finishCall(
              schedule, [&](RunOp run) { return isRunInCall(run); })) ||
          failed(checkActions(schedule)) || failed(arena.finishCall(schedule)))
        return failure();
      finishCall(schedule);
    }
    return success();
  }

private:
  struct Call {
    int64_t microBatches;
    int64_t turns = 2;
    bool isChosen = true;
  };
  SmallVector<Call> listCalls(ScheduleOp schedule) const;
  int64_t countMicroBatches() const;
  void begin(const Call &call);
  void resetSegments();
  void finishCall(ScheduleOp schedule);
  LogicalResult visit(ScheduleCommandOpInterface command) override;
  LogicalResult pass(OnlyOp only) override { return contents.pass(only); }
  bool takesPart(ScheduleCommandOpInterface command);
  bool noteUpload(TransferOp transfer);
  LogicalResult followEvent(ScheduleCommandOpInterface command, bool isRecord);
  LogicalResult useSegments(RunOp run, Queue queue);
  LogicalResult useSegment(RunOp run, Queue queue, int64_t number,
                           bool isWrite);
  LogicalResult touch(ScheduleCommandOpInterface command, Queue queue,
                      const CommandAccess &access);
  bool writes(ScheduleCommandOpInterface command, const CommandAccess &access,
              int64_t instance) const;
  SmallVector<int64_t> listInstances(const CommandAccess &access,
                                     int64_t ahead) const;
  LogicalResult meet(ScheduleCommandOpInterface command, Queue queue);
  LogicalResult keepMessagesInOrder(Operation *op, Queue queue,
                                    const CommandMessage &message);
  bool receives(ScheduleCommandOpInterface command) const {
    CommandReplicas sets = command.getReplicaSets();
    return sets.from && rank.findSource(sets.from, sets.to).has_value();
  }
  bool isRunInCall(RunOp run) const;
  LogicalResult checkActions(ScheduleOp schedule);
  template <typename OpTy>
  SmallVector<int64_t> findInstances(OpTy move) const;
  LogicalResult followFetch(FetchOp fetch);
  LogicalResult followEvict(EvictOp evict);
  LogicalResult move(Operation *op, Queue queue, ArenaContents::Place place,
                     bool isFetch);

  int64_t getInstance(int64_t segment, int64_t ahead = 0) const {
    return hfta::getInstance(cast<SegmentAttr>(segments[segment]), now, ahead);
  }
  CommandRange getSegment(int64_t number) const {
    return {Space::segment, number, getInstance(number), 0,
            cast<SegmentAttr>(segments[number]).getBytes()};
  }
  const Job &job;
  int64_t stage;
  SymbolTable symbols;
  ArrayAttr segments;
  bool offered;
  /// The number of a call's micro-batches that the previous call has uploaded,
  /// and the number of those of the next call that this call uploads.
  int64_t held = 0, coming = 0;
  ScheduleClocks clocks;
  /// Queues for which the host no longer waits: the next turn of several steps
  /// begins while these still write the previous turn's data.
  std::set<Queue> goingOn;
  /// The micro-batches, by place, for which a command in a case of actions has
  /// run a task.
  std::map<Operation *, std::set<int64_t>> placesOf;
  ScheduleContents contents;
  ArenaContents arena;
  /// The queue that last exchanged something with other ranks, and the time.
  std::optional<ScheduleClocks::Time> lastExchange;
  /// The time of the last message of a segment, by whether it is sent, by the
  /// other stage, and by the segment.
  std::map<std::tuple<bool, int64_t, int64_t>, ScheduleClocks::Time>
      lastMessages;
};

} // namespace

/// Returns the number of micro-batches to follow: enough for places and events
/// to repeat, or all with several stages, as orders list all of them.
int64_t ScheduleWalk::countMicroBatches() const {
  int64_t most = 1;
  for (auto segment : segments.getAsRange<SegmentAttr>())
    most = std::max(most, segment.getInstances());
  return job.getStageCount() > 1 ? job.microBatches
                                 : std::min(job.microBatches, 2 * most + 2);
}

/// Lists the calls to follow. The batch of the first call isn't uploaded yet;
/// the second one's may be; and the third one's may be in the place of the
/// first one's. In the fourth call, all copies have one turn, so that nothing
/// waits for commands of a second turn. The batch of an evaluation may have
/// fewer micro-batches, or none; if there are few, some ranks have none.
SmallVector<ScheduleWalk::Call>
ScheduleWalk::listCalls(ScheduleOp schedule) const {
  int64_t all = countMicroBatches();
  // A schedule that only moves data doesn't depend on micro-batches.
  if (llvm::is_contained(schedules::kOfTurn, schedule.getKind()) &&
      schedule.getKind() != schedules::kTurnStep)
    return {Call{/*microBatches=*/0, /*turns=*/1}};
  SmallVector<Call> calls = {
      {all}, {all, /*turns=*/2, /*isChosen=*/false}, {all}, {all, /*turns=*/1}};
  if (schedule.getKind() == schedules::kEvaluate)
    for (int64_t count : {int64_t(1), all, int64_t(0), all - 1, all})
      calls.push_back({count, /*turns=*/1});
  return calls;
}

void ScheduleWalk::begin(const Call &call) {
  microBatches = call.microBatches;
  own = getMicroBatchesOf(job, stage, rank, microBatches);
  turns = call.turns;
  idle.clear();
}

/// Returns whether the call runs the task for any copies.
bool ScheduleWalk::isRunInCall(RunOp run) const {
  for (Operation *op = run->getParentOp(); op; op = op->getParentOp())
    if (auto every = dyn_cast<EveryOp>(op); every && !isFor(every))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Notes that a transfer of a field uploads a micro-batch, and returns whether
/// it does. Micro-batches that the previous call has uploaded aren't copied
/// again. Of the next call's, only the first one is uploaded, and only if that
/// batch is offered.
bool ScheduleWalk::noteUpload(TransferOp transfer) {
  int64_t of = now.place + static_cast<int64_t>(transfer.getAhead());
  auto count = static_cast<int64_t>(own.size());
  if (of < held || of > count || (of == count && !offered))
    return false;
  coming = std::max(coming, of - count + 1);
  return true;
}

/// Returns whether the rank does anything for the command. A transfer of a
/// field is noted.
bool ScheduleWalk::takesPart(ScheduleCommandOpInterface command) {
  if (auto transfer = dyn_cast<TransferOp>(*command);
      transfer && transfer.getFrom().getSpace() == Space::field)
    return noteUpload(transfer);
  if (isPastLast(command.getMicroBatchesAhead()))
    return false;
  CommandReplicas sets = command.getReplicaSets();
  return !sets.from || receives(command) || rank.gives(sets.from, sets.to);
}

LogicalResult ScheduleWalk::followEvent(ScheduleCommandOpInterface command,
                                        bool isRecord) {
  std::optional<int64_t> event = findEvent(command);
  if (!event)
    return success();
  if (isRecord)
    return clocks.record(command, *event);
  clocks.await(command, *event);
  return success();
}

LogicalResult ScheduleWalk::visit(ScheduleCommandOpInterface command) {
  if (std::optional<CommandEvent> event = command.findEvent())
    return followEvent(command, event->isRecord);
  if (!takesPart(command))
    return success();
  if (auto fetch = dyn_cast<FetchOp>(*command))
    return followFetch(fetch);
  if (auto evict = dyn_cast<EvictOp>(*command))
    return followEvict(evict);
  if (auto drop = dyn_cast<DropOp>(*command))
    return arena.drop(drop, findInstances(drop));
  Queue queue = clocks.start(command);
  if (auto run = dyn_cast<RunOp>(*command);
      run && failed(useSegments(run, queue)))
    return failure();
  for (const CommandAccess &access : command.getAccesses())
    if (failed(touch(command, queue, access)))
      return failure();
  if (command.meetsOthers() && failed(meet(command, queue)))
    return failure();
  return contents.follow(command, {now, own, microBatches});
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Checks that messages of one segment between two workers stay in order.
LogicalResult ScheduleWalk::keepMessagesInOrder(Operation *op, Queue queue,
                                                const CommandMessage &message) {
  ScheduleClocks::Time now = clocks.getTime(queue);
  int64_t segment = message.place.getNumber();
  auto [last, isFirst] =
      lastMessages.try_emplace({message.isSent, message.stage, segment}, now);
  if (!isFirst && !clocks.isKnown(queue, last->second))
    return op->emitOpError(message.isSent ? "sends segment "
                                          : "receives segment ")
           << segment << (message.isSent ? " to stage " : " from stage ")
           << message.stage << " while " << describe(last->second.first)
           << " may still do so";
  last->second = now;
  return success();
}

/// Checks that queues and events order a collective command after the previous
/// collective command of the list, so that all ranks run them in one order, and
/// a message between stages after the previous one of the same segment and
/// direction.
LogicalResult ScheduleWalk::meet(ScheduleCommandOpInterface command,
                                 Queue queue) {
  if (std::optional<CommandMessage> message = command.findMessage())
    return keepMessagesInOrder(command, queue, *message);
  if (lastExchange && !clocks.isKnown(queue, *lastExchange))
    return command->emitOpError("exchanges with other ranks while ")
           << describe(lastExchange->first) << " may still do so";
  lastExchange = clocks.getTime(queue);
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult ScheduleWalk::useSegments(RunOp run, Queue queue) {
  auto task = symbols.lookup<TaskOp>(run.getTask());
  if (run->getParentOfType<CaseOp>())
    placesOf[run].insert(now.place);
  for (int64_t number : task.getReads())
    if (failed(useSegment(run, queue, number, /*isWrite=*/false)))
      return failure();
  for (int64_t number : task.getWrites())
    if (failed(useSegment(run, queue, number, /*isWrite=*/true)))
      return failure();
  return success();
}

/// Notes an access of a segment at its current place.
LogicalResult ScheduleWalk::useSegment(RunOp run, Queue queue, int64_t number,
                                       bool isWrite) {
  if (arena.isResident(number))
    return clocks.touch(run, queue, getSegment(number), isWrite);
  ArenaContents::Place place = {number, getInstance(number)};
  auto task = symbols.lookup<TaskOp>(run.getTask());
  if (failed(arena.use(run, task, place, isWrite)))
    return failure();
  auto [begin, end] = *arena.find(place);
  return clocks.touch(run, queue,
                      {Space::segment, CommandRange::kArena, 0, begin, end},
                      isWrite);
}

SmallVector<int64_t> ScheduleWalk::listInstances(const CommandAccess &access,
                                                 int64_t ahead) const {
  int64_t number = access.place.getNumber();
  switch (access.instances) {
  case CommandAccess::Instances::current:
    return {getInstance(number, ahead)};
  case CommandAccess::Instances::first:
    return {0};
  case CommandAccess::Instances::all:
    return llvm::to_vector(
        llvm::seq<int64_t>(cast<SegmentAttr>(segments[number]).getInstances()));
  }
  llvm_unreachable("all kinds are above");
}

/// Returns whether the rank writes the instance; otherwise it only reads it.
bool ScheduleWalk::writes(ScheduleCommandOpInterface command,
                          const CommandAccess &access, int64_t instance) const {
  switch (access.kind) {
  case CommandAccess::Kind::read:
    return false;
  case CommandAccess::Kind::write:
  case CommandAccess::Kind::readWrite:
    return true;
  case CommandAccess::Kind::byMicroBatch:
    return instance < microBatches && !llvm::is_contained(own, instance);
  case CommandAccess::Kind::byReplicas:
    return receives(command);
  }
  llvm_unreachable("all kinds are above");
}

/// Notes an access of a place, for all copies.
LogicalResult ScheduleWalk::touch(ScheduleCommandOpInterface command,
                                  Queue queue, const CommandAccess &access) {
  PlaceAttr place = access.place;
  if (place.getSpace() != Space::segment && place.getSpace() != Space::host)
    return success();
  int64_t number = place.getNumber();
  bool isInArena =
      place.getSpace() == Space::segment && !arena.isResident(number);
  int64_t end = place.getStride()
                    ? cast<SegmentAttr>(segments[number]).getBytes()
                    : place.getOffset() + access.bytes;
  for (int64_t instance :
       listInstances(access, command.getMicroBatchesAhead())) {
    CommandRange range = {place.getSpace(), number, instance, place.getOffset(),
                          end};
    bool isWrite = writes(command, access, instance);
    bool isRead = !isWrite || access.kind == CommandAccess::Kind::readWrite;
    if (isInArena) {
      if (failed(arena.access(command, {number, instance}, isRead, isWrite)))
        return failure();
      auto [first, last] = *arena.find({number, instance});
      range = {Space::segment, CommandRange::kArena, 0, first, last};
    }
    if (failed(clocks.touch(command, queue, range, isWrite)))
      return failure();
  }
  return success();
}

/// Checks that each command in a case of actions ran for all of the worker's
/// micro-batches.
LogicalResult ScheduleWalk::checkActions(ScheduleOp schedule) {
  WalkResult result = schedule.walk([&](RunOp run) {
    if (!run->getParentOfType<CaseOp>() || !isRunInCall(run) ||
        placesOf[run].size() == own.size())
      return WalkResult::advance();
    run.emitOpError("runs for only ")
        << placesOf[run].size() << " of " << own.size() << " micro-batches";
    return WalkResult::interrupt();
  });
  placesOf.clear();
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Moves between the arena and the store
//===----------------------------------------------------------------------===//

/// Returns the instances that a command moves: that of its micro-batch, or all
/// if there is none.
template <typename OpTy>
SmallVector<int64_t> ScheduleWalk::findInstances(OpTy move) const {
  auto ahead = static_cast<int64_t>(move.getAhead());
  int64_t number = move.getSegment();
  if (now.isInMicroBatches)
    return {getInstance(number, ahead)};
  return llvm::to_vector(llvm::seq<int64_t>(
      0, cast<SegmentAttr>(segments[number]).getInstances()));
}

/// Notes a transfer between an instance's place in the arena and the store.
LogicalResult ScheduleWalk::move(Operation *op, Queue queue,
                                 ArenaContents::Place place, bool isFetch) {
  auto [begin, end] = *arena.find(place);
  CommandRange inArena = {Space::segment, CommandRange::kArena, 0, begin, end};
  CommandRange inStore = {Space::segment, CommandRange::kStore - place.first,
                          place.second, 0, end - begin};
  return failure(failed(clocks.touch(op, queue, inArena, isFetch)) ||
                 failed(clocks.touch(op, queue, inStore, !isFetch)));
}

LogicalResult ScheduleWalk::followFetch(FetchOp fetch) {
  SmallVector<int64_t> instances = findInstances(fetch);
  if (failed(arena.fetch(fetch, instances)))
    return failure();
  if (failed(contents.follow(fetch, {now, own, microBatches})))
    return failure();
  if (fetch.getContents() == Contents::undefined)
    return success();
  Queue queue = clocks.start(fetch);
  for (int64_t instance : instances)
    if (failed(move(fetch, queue, {fetch.getSegment(), instance},
                    /*isFetch=*/true)))
      return failure();
  return success();
}

LogicalResult ScheduleWalk::followEvict(EvictOp evict) {
  SmallVector<int64_t> instances = findInstances(evict);
  if (failed(arena.evict(evict, instances)))
    return failure();
  Queue queue = clocks.start(evict);
  for (int64_t instance : instances)
    if (failed(move(evict, queue, {evict.getSegment(), instance},
                    /*isFetch=*/false)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns whether the runtime initializes a segment's memory. It doesn't if a
/// task always writes the memory before another one reads it.
static bool isReset(Role role) {
  switch (role) {
  case Role::saved:
  case Role::cut:
  case Role::workspace:
  case Role::scratch:
  case Role::exchange:
    return false;
  case Role::constant:
  case Role::parameter:
  case Role::gradient:
  case Role::moment:
  case Role::optimizer_state:
  case Role::curvature:
  case Role::statistics:
  case Role::input:
  case Role::output:
  case Role::scalar:
  case Role::result:
  case Role::received:
    return true;
  }
  llvm_unreachable("all roles are above");
}

/// Notes the initialization of segments, which is in queue 0. `initialize` is
/// issued without waiting for it.
void ScheduleWalk::resetSegments() {
  Queue first = clocks.start(Queue(0, 0));
  for (auto [index, segment] :
       llvm::enumerate(segments.getAsRange<SegmentAttr>())) {
    if (!isReset(segment.getRole()))
      continue;
    for (int64_t instance = 0; instance < segment.getInstances(); ++instance)
      clocks.note(first,
                  {Space::segment, static_cast<int64_t>(index), instance, 0,
                   segment.getBytes()},
                  /*isWrite=*/true);
  }
}

/// Ends a call. Later commands come after all earlier ones, except for those of
/// queues for which the host doesn't wait.
void ScheduleWalk::finishCall(ScheduleOp schedule) {
  auto module = schedule->getParentOfType<ModuleOp>();
  if (schedule.getKind() == schedules::kEndTurn &&
      module.lookupSymbol(schedules::kBeginTurnBeside))
    schedule.walk([&](EvictOp evict) {
      goingOn.insert(Queue(evict.getDevice(), evict.getQueue()));
    });
  clocks.finishCall(goingOn);
  lastExchange.reset();
  lastMessages.clear();
  now.first += own.size();
  held = coming;
  coming = 0;
}

static LogicalResult verify(ScheduleOp schedule, const Job &job) {
  auto module = schedule->getParentOfType<ModuleOp>();
  auto stage = std::max<int64_t>(schedule.getStage(), 0);
  if (stage >= job.getStageCount())
    return schedule.emitOpError("is for stage ")
           << stage << ", but there are only " << job.getStageCount();
  if (failed(verifyReplicas(schedule, job)))
    return failure();
  FailureOr<SmallVector<ScheduleOp>> sequence = findTurns(schedule);
  if (failed(sequence))
    return failure();
  SmallVector<StageRank> ranks = listRanks(schedule, job);
  for (bool offered : {false, true})
    for (const StageRank &rank : ranks) {
      ScheduleWalk walk(module, job, stage, rank, offered);
      for (ScheduleOp next : *sequence)
        if (failed(walk.follow(next)))
          return failure();
    }
  return success();
}

namespace {
struct VerifySchedulesPass
    : hfta::impl::HftaVerifySchedulesBase<VerifySchedulesPass> {
  using HftaVerifySchedulesBase::HftaVerifySchedulesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (SegmentAttr::getTable(module) && failed(verifyInstances(module, *job)))
      return signalPassFailure();
    for (auto schedule : module.getOps<ScheduleOp>())
      if (failed(verify(schedule, *job)))
        return signalPassFailure();
    if (failed(verifyMessages(module, *job)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
