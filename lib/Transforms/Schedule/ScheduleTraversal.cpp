//===- ScheduleTraversal.cpp - Visits a worker's commands one by one ------===//

#include "Schedule/ScheduleTraversal.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

std::optional<int64_t> StageRank::findFirst(ReplicasAttr some) const {
  for (int64_t i = 0; i < some.getCount(); ++i)
    if (getRankOf(some.getMember(i)) == rank)
      return some.getMember(i);
  return std::nullopt;
}

std::optional<int64_t> StageRank::findSource(ReplicasAttr from,
                                             ReplicasAttr to) const {
  std::optional<int64_t> first = findFirst(to);
  if (!first || has(from))
    return std::nullopt;
  int64_t member = std::min(from.getCount() - 1, *first / from.getStride());
  return getRankOf(from.getMember(member));
}

bool StageRank::gives(ReplicasAttr from, ReplicasAttr to) const {
  for (int64_t other = 0; other < ranks; ++other)
    if (StageRank(replicas, other, ranks).findSource(from, to) == rank)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

std::optional<int64_t>
ScheduleTraversal::findEvent(ScheduleCommandOpInterface command) const {
  std::optional<CommandEvent> event = command.findEvent();
  if (!event || !now.isInMicroBatches)
    return event ? std::optional(event->number) : std::nullopt;
  int64_t ahead = command.getMicroBatchesAhead();
  if (isPastLast(ahead))
    return std::nullopt;
  return event->number + (now.place + ahead) % event->instances;
}

LogicalResult ScheduleTraversal::traverseFor(int64_t place, Block &commands) {
  Moment outer = now;
  now.number = own[place];
  now.place = place;
  now.isInMicroBatches = true;
  LogicalResult result = traverse(commands);
  now = outer;
  return result;
}

LogicalResult ScheduleTraversal::repeat(RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  Moment outer = now;
  auto times = static_cast<int64_t>(own.size());
  if (repeat.getOver() != RepeatKind::micro_batches)
    times = repeat.getOver() == RepeatKind::turns ? turns : microBatches;
  for (int64_t index = 0; index < times; ++index) {
    if (repeat.getOver() == RepeatKind::all_micro_batches)
      now.number = index;
    if (repeat.getOver() == RepeatKind::turns)
      now.turn = index;
    if (failed(repeat.getOver() == RepeatKind::micro_batches
                   ? traverseFor(index, body)
                   : traverse(body)))
      return failure();
  }
  now = outer;
  return success();
}

LogicalResult ScheduleTraversal::perform(ActionsOp actions) {
  SmallVector<Block *> cases;
  for (auto number : actions.getBody().getOps<CaseOp>())
    cases.push_back(&number.getBody().front());
  ArrayRef<int64_t> order = actions.getOrder();
  for (size_t i = 0; i < order.size(); i += 2)
    if (order[i + 1] < static_cast<int64_t>(own.size()) &&
        failed(traverseFor(order[i + 1], *cases[order[i]])))
      return failure();
  return success();
}

/// Returns whether the host runs these commands. If some copies are due, it is
/// assumed that others aren't.
bool ScheduleTraversal::isFor(EveryOp every) const {
  switch (every.getWhich()) {
  case DueKind::due:
  case DueKind::any:
    return idle.count(every.getPeriod()) == 0;
  case DueKind::others:
    return true;
  case DueKind::none:
    return idle.count(every.getPeriod()) > 0;
  }
  llvm_unreachable("all kinds are above");
}

LogicalResult ScheduleTraversal::traverse(Block &commands) {
  for (Operation &op : commands) {
    LogicalResult result = success();
    if (auto repeated = dyn_cast<RepeatOp>(op))
      result = repeat(repeated);
    else if (auto actions = dyn_cast<ActionsOp>(op))
      result = perform(actions);
    else if (auto only = dyn_cast<OnlyOp>(op))
      result = rank.has(only.getReplicas()) ? traverse(only.getBody().front())
                                            : pass(only);
    else if (auto every = dyn_cast<EveryOp>(op))
      result = isFor(every) ? traverse(every.getBody().front()) : success();
    else if (auto command = cast<ScheduleCommandOpInterface>(op);
             !command.getCommands())
      result = visit(command);
    else
      result = op.emitOpError("contains commands, but passes don't know when "
                              "the host runs them");
    if (failed(result))
      return failure();
  }
  return success();
}

std::set<StringRef> hfta::findPeriods(Operation *op) {
  std::set<StringRef> periods;
  op->walk([&](EveryOp every) { periods.insert(every.getPeriod()); });
  return periods;
}

SmallVector<int64_t> hfta::getMicroBatchesOf(const Job &job, int64_t stage,
                                             const StageRank &rank,
                                             int64_t microBatches) {
  SmallVector<int64_t> own;
  for (int64_t number = 0; number < microBatches; ++number)
    if (rank.hasGroup(number % job.getGroups(stage)))
      own.push_back(number);
  return own;
}
