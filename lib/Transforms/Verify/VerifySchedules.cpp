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
        contents(module, job, rank), arena(segments) {}

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
  LogicalResult visit(Operation *command) override;
  LogicalResult pass(OnlyOp only) override { return contents.pass(only); }
  LogicalResult followSend(SendOp send);
  LogicalResult followReceive(ReceiveOp receive);
  void followAwait(AwaitOp await);
  LogicalResult followRun(RunOp run);
  bool isRunInCall(RunOp run) const;
  LogicalResult checkActions(ScheduleOp schedule);
  LogicalResult followTransfer(TransferOp transfer);
  LogicalResult followAllReduce(AllReduceOp reduce);
  LogicalResult followAllGather(AllGatherOp gather);
  LogicalResult followBroadcast(BroadcastBytesOp broadcast);
  LogicalResult followTakeGroup(TakeGroupOp take);
  template <typename OpTy>
  SmallVector<int64_t> findInstances(OpTy move) const;
  LogicalResult followFetch(FetchOp fetch);
  LogicalResult followEvict(EvictOp evict);
  LogicalResult move(Operation *op, Queue queue, ArenaContents::Place place,
                     bool isFetch);
  LogicalResult useSegment(RunOp run, Queue queue, int64_t number,
                           bool isWrite);
  LogicalResult addUpInArena(AllReduceOp reduce, Queue queue);
  LogicalResult touchAll(
      Operation *op, Queue queue, PlaceAttr place, int64_t bytes,
      llvm::function_ref<bool(int64_t)> isWritten = [](int64_t) {
        return true;
      });
  LogicalResult followRecord(RecordOp record);
  LogicalResult exchange(Operation *op, Queue queue);
  LogicalResult keepMessagesInOrder(Operation *op, Queue queue, int64_t stage,
                                    int64_t segment);

  int64_t getInstance(int64_t segment, int64_t ahead = 0) const {
    return hfta::getInstance(cast<SegmentAttr>(segments[segment]), now, ahead);
  }
  CommandRange getSegment(int64_t number) const {
    return {Space::segment, number, getInstance(number), 0,
            cast<SegmentAttr>(segments[number]).getBytes()};
  }
  /// Returns the range of a place, for all copies; nothing if it isn't in a
  /// segment or its image.
  std::optional<CommandRange> getRange(PlaceAttr place, int64_t bytes,
                                       int64_t ahead) const {
    if (place.getSpace() != Space::segment && place.getSpace() != Space::host)
      return std::nullopt;
    int64_t number = place.getNumber();
    int64_t end = place.getStride()
                      ? cast<SegmentAttr>(segments[number]).getBytes()
                      : place.getOffset() + bytes;
    return CommandRange{place.getSpace(), number, getInstance(number, ahead),
                        place.getOffset(), end};
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

/// Checks that queues and events order a collective command after the previous
/// collective command of the list, so that all ranks run them in one order.
LogicalResult ScheduleWalk::exchange(Operation *op, Queue queue) {
  if (lastExchange && !clocks.isKnown(queue, *lastExchange))
    return op->emitOpError("exchanges with other ranks while ")
           << describe(lastExchange->first) << " may still do so";
  lastExchange = clocks.getTime(queue);
  return success();
}

/// Checks that messages of one segment between two workers stay in order.
LogicalResult ScheduleWalk::keepMessagesInOrder(Operation *op, Queue queue,
                                                int64_t stage,
                                                int64_t segment) {
  ScheduleClocks::Time now = clocks.getTime(queue);
  bool sends = isa<SendOp>(op);
  auto [last, isFirst] = lastMessages.try_emplace({sends, stage, segment}, now);
  if (!isFirst && !clocks.isKnown(queue, last->second))
    return op->emitOpError(sends ? "sends segment " : "receives segment ")
           << segment << (sends ? " to stage " : " from stage ") << stage
           << " while " << describe(last->second.first) << " may still do so";
  last->second = now;
  return success();
}

LogicalResult ScheduleWalk::followRun(RunOp run) {
  auto task = symbols.lookup<TaskOp>(run.getTask());
  Queue queue = clocks.start(run);
  if (run->getParentOfType<CaseOp>())
    placesOf[run].insert(now.place);
  for (int64_t number : task.getReads())
    if (failed(useSegment(run, queue, number, /*isWrite=*/false)))
      return failure();
  for (int64_t number : task.getWrites())
    if (failed(useSegment(run, queue, number, /*isWrite=*/true)))
      return failure();
  return contents.run(run, task, now);
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

LogicalResult ScheduleWalk::followTransfer(TransferOp transfer) {
  auto ahead = static_cast<int64_t>(transfer.getAhead());
  int64_t of = now.place + ahead, count = own.size();
  bool isField = transfer.getFrom().getSpace() == Space::field;
  if (isField && of < held)
    return success();
  // Only the first micro-batch of the next batch is uploaded, and only if that
  // is offered.
  bool isPast =
      isField ? of > count || (of == count && !offered) : isPastLast(ahead);
  if (isPast)
    return success();
  Queue queue = clocks.start(transfer);
  auto bytes = static_cast<int64_t>(transfer.getBytes());
  if (std::optional<CommandRange> from =
          getRange(transfer.getFrom(), bytes, ahead);
      from && failed(clocks.touch(transfer, queue, *from, /*isWrite=*/false)))
    return failure();
  if (std::optional<CommandRange> to = getRange(transfer.getTo(), bytes, ahead);
      to && failed(clocks.touch(transfer, queue, *to, /*isWrite=*/true)))
    return failure();
  if (isField)
    coming = std::max(coming, of - count + 1);
  return contents.transfer(transfer, now);
}

/// Notes an access of a range in all instances of a segment.
LogicalResult
ScheduleWalk::touchAll(Operation *op, Queue queue, PlaceAttr place,
                       int64_t bytes,
                       llvm::function_ref<bool(int64_t)> isWritten) {
  auto segment = cast<SegmentAttr>(segments[place.getNumber()]);
  CommandRange range = {Space::segment, place.getNumber(), 0, place.getOffset(),
                        place.getOffset() + bytes};
  for (; range.instance < segment.getInstances(); ++range.instance)
    if (failed(clocks.touch(op, queue, range, isWritten(range.instance))))
      return failure();
  return success();
}

/// Notes that the rank sends the data of its own micro-batches and receives
/// those of the others.
LogicalResult ScheduleWalk::followAllGather(AllGatherOp gather) {
  Queue queue = clocks.start(gather);
  auto isReceived = [&](int64_t number) {
    return number < microBatches && !llvm::is_contained(own, number);
  };
  if (failed(touchAll(gather, queue, gather.getAt(), gather.getBytes(),
                      isReceived)) ||
      failed(exchange(gather, queue)))
    return failure();
  return contents.gather(gather, own, microBatches);
}

LogicalResult ScheduleWalk::followAllReduce(AllReduceOp reduce) {
  Queue queue = clocks.start(reduce);
  PlaceAttr through = reduce.getThrough();
  int64_t received =
      cast<SegmentAttr>(segments[through.getNumber()]).getBytes();
  bool isResident = arena.isResident(reduce.getAt().getNumber());
  if (failed(isResident
                 ? touchAll(reduce, queue, reduce.getAt(), reduce.getBytes())
                 : addUpInArena(reduce, queue)) ||
      failed(touchAll(reduce, queue, through, received)) ||
      failed(exchange(reduce, queue)))
    return failure();
  return contents.addUp(reduce);
}

/// Notes accesses of all instances, at their current places in the arena.
LogicalResult ScheduleWalk::addUpInArena(AllReduceOp reduce, Queue queue) {
  int64_t number = reduce.getAt().getNumber();
  auto segment = cast<SegmentAttr>(segments[number]);
  for (int64_t instance = 0; instance < segment.getInstances(); ++instance) {
    if (failed(arena.addUp(reduce, {number, instance})))
      return failure();
    auto [begin, end] = *arena.find({number, instance});
    if (failed(
            clocks.touch(reduce, queue,
                         {Space::segment, CommandRange::kArena, 0, begin, end},
                         /*isWrite=*/true)))
      return failure();
  }
  return success();
}

/// Notes a broadcast, unless the rank neither sends nor receives.
LogicalResult ScheduleWalk::followBroadcast(BroadcastBytesOp broadcast) {
  bool receives = rank.findSource(broadcast).has_value();
  if (!receives && !rank.gives(broadcast))
    return success();
  Queue queue = clocks.start(broadcast);
  std::optional<CommandRange> range =
      getRange(broadcast.getAt(), broadcast.getBytes(), 0);
  range->instance = 0;
  if (failed(clocks.touch(broadcast, queue, *range, receives)) ||
      failed(exchange(broadcast, queue)))
    return failure();
  return contents.broadcast(broadcast, receives);
}

LogicalResult ScheduleWalk::followTakeGroup(TakeGroupOp take) {
  PlaceAttr at = take.getAt();
  Queue queue = clocks.start(take);
  std::optional<CommandRange> range = getRange(at, take.getBytes(), 0);
  if (failed(touchAll(take, queue, at, range->end - range->begin)))
    return failure();
  return contents.takeGroup(take);
}

/// Returns the instances that a command moves: that of the current micro-batch,
/// or all if there is none. Returns none for micro-batches after the last one.
template <typename OpTy>
SmallVector<int64_t> ScheduleWalk::findInstances(OpTy move) const {
  auto ahead = static_cast<int64_t>(move.getAhead());
  int64_t number = move.getSegment();
  if (isPastLast(ahead))
    return {};
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
  contents.fetch(fetch);
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

LogicalResult ScheduleWalk::followSend(SendOp send) {
  Queue queue = clocks.start(send);
  std::optional<CommandRange> range =
      getRange(send.getAt(), send.getBytes(), 0);
  if (failed(clocks.touch(send, queue, *range, /*isWrite=*/false)) ||
      failed(keepMessagesInOrder(send, queue, send.getStage(), range->number)))
    return failure();
  return contents.send(send, now);
}

LogicalResult ScheduleWalk::followReceive(ReceiveOp receive) {
  auto ahead = static_cast<int64_t>(receive.getAhead());
  if (isPastLast(ahead))
    return success();
  Queue queue = clocks.start(receive);
  std::optional<CommandRange> range =
      getRange(receive.getAt(), receive.getBytes(), ahead);
  if (failed(clocks.touch(receive, queue, *range, /*isWrite=*/true)) ||
      failed(keepMessagesInOrder(receive, queue, receive.getStage(),
                                 range->number)))
    return failure();
  return contents.receive(receive, now);
}

LogicalResult ScheduleWalk::followRecord(RecordOp record) {
  std::optional<int64_t> event = getEvent(record);
  return event ? clocks.record(record, *event) : success();
}

void ScheduleWalk::followAwait(AwaitOp await) {
  if (std::optional<int64_t> event = getEvent(await))
    clocks.await(await, *event);
}

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

LogicalResult ScheduleWalk::visit(Operation *command) {
  if (auto run = dyn_cast<RunOp>(command))
    return followRun(run);
  if (auto transfer = dyn_cast<TransferOp>(command))
    return followTransfer(transfer);
  if (auto fill = dyn_cast<FillOp>(command)) {
    if (failed(
            touchAll(fill, clocks.start(fill), fill.getTo(), fill.getBytes())))
      return failure();
    return contents.fill(fill);
  }
  if (auto reduce = dyn_cast<AllReduceOp>(command))
    return followAllReduce(reduce);
  if (auto gather = dyn_cast<AllGatherOp>(command))
    return followAllGather(gather);
  if (auto broadcast = dyn_cast<BroadcastBytesOp>(command))
    return followBroadcast(broadcast);
  if (auto take = dyn_cast<TakeGroupOp>(command))
    return followTakeGroup(take);
  if (auto fetch = dyn_cast<FetchOp>(command))
    return followFetch(fetch);
  if (auto evict = dyn_cast<EvictOp>(command))
    return followEvict(evict);
  if (auto drop = dyn_cast<DropOp>(command))
    return arena.drop(drop, findInstances(drop));
  if (auto send = dyn_cast<SendOp>(command))
    return followSend(send);
  if (auto receive = dyn_cast<ReceiveOp>(command))
    return followReceive(receive);
  if (auto record = dyn_cast<RecordOp>(command))
    return followRecord(record);
  if (auto await = dyn_cast<AwaitOp>(command)) {
    followAwait(await);
    return success();
  }
  return command->emitOpError("is a command that the verifier of schedules "
                              "doesn't know");
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
