//===- ScheduleReplicas.cpp - Contents if only some replicas work ---------===//
//
// A command that only some replicas run leaves old data on other ranks. This is
// tracked by the bytes of variables. Until such bytes are received or written
// again, nothing may use them on these ranks. The state from which training
// continues must be equal on all ranks that have it.
//===----------------------------------------------------------------------===//

#include "Tasks/CopyUses.h"
#include "Verify/ScheduleContents.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Returns which of the commands that only some ranks run are run by this rank.
static std::vector<bool> getParts(ScheduleOp schedule, const StageRank &rank) {
  std::vector<bool> parts;
  schedule.walk([&](ScheduleCommandOpInterface command) {
    CommandReplicas sets = command.getReplicaSets();
    if (sets.runs)
      parts.push_back(rank.has(sets.runs));
    if (auto take = dyn_cast<TakeGroupOp>(*command))
      parts.push_back(rank.hasGroup(static_cast<int64_t>(take.getGroup())));
    if (sets.from) {
      parts.push_back(rank.findSource(sets.from, sets.to).has_value());
      parts.push_back(rank.gives(sets.from, sets.to));
    }
  });
  return parts;
}

/// Returns whether the schedule does the work of several stages in one place.
static bool isOfAllStages(ScheduleOp schedule, const Job &job) {
  return static_cast<int64_t>(schedule.getStage()) < 0 &&
         job.getStageCount() > 1;
}

static int64_t countReplicas(ScheduleOp schedule, const Job &job) {
  return job.getReplicas(
      std::max<int64_t>(static_cast<int64_t>(schedule.getStage()), 0));
}

/// The number of replicas up to which all numbers of ranks are checked. With
/// more replicas, only ranks with one or two replicas each are checked.
static constexpr int64_t kFewReplicas = 8;

SmallVector<StageRank> hfta::listRanks(ScheduleOp schedule, const Job &job) {
  SmallVector<StageRank> ranks;
  int64_t replicas = countReplicas(schedule, job);
  bool isWhole = isOfAllStages(schedule, job);
  bool isMerged = job.getStageCount() == 1 || replicas == 1 || isWhole;
  if (isMerged)
    ranks.emplace_back(replicas, 0, 1);
  if (replicas == 1 || isWhole)
    return ranks;
  ranks.emplace_back(replicas, 0, replicas);
  ranks.emplace_back(replicas, replicas - 1, replicas);
  std::set<std::vector<bool>> known;
  for (const StageRank &rank : ranks)
    known.insert(getParts(schedule, rank));
  if (known.begin()->empty())
    return ranks;
  SmallVector<int64_t> counts = {replicas};
  if (isMerged && replicas <= kFewReplicas)
    llvm::append_range(counts, llvm::seq<int64_t>(2, replicas));
  else if (isMerged)
    counts.append({replicas - 1, replicas / 2});
  for (int64_t count : counts)
    for (int64_t number = 0; number < count; ++number)
      if (StageRank rank(replicas, number, count);
          known.insert(getParts(schedule, rank)).second)
        ranks.push_back(rank);
  return ranks;
}

static LogicalResult verifyAreThere(Operation *op, ReplicasAttr some,
                                    int64_t replicas) {
  if (some.getLast() < replicas)
    return success();
  return op->emitOpError("is for replicas ")
         << some << ", but there are only " << replicas;
}

LogicalResult hfta::verifyReplicas(ScheduleOp schedule, const Job &job) {
  if (isOfAllStages(schedule, job))
    return success();
  int64_t replicas = countReplicas(schedule, job);
  WalkResult result = schedule.walk([&](ScheduleCommandOpInterface command) {
    CommandReplicas sets = command.getReplicaSets();
    for (ReplicasAttr some : {sets.runs, sets.from, sets.to})
      if (some && failed(verifyAreThere(command, some, replicas)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Bytes of variables
//===----------------------------------------------------------------------===//

void ScheduleContents::findVariables() {
  for (auto variable : module.getOps<VariableOp>())
    if (std::optional<BindingAttr> place = variable.getLocation())
      variables[place->getSegment()].try_emplace(place->getOffset(), variable);
}

static int64_t getCopyBytes(VariableOp variable) {
  return getLogicalBytes(
      RankedTensorType::get(variable.getTensorType().getShape(),
                            variable.getTensorType().getElementType()));
}

/// Returns the range of the variable that contains the byte, or just the byte
/// if none does.
ScheduleContents::Range ScheduleContents::findRange(int64_t segment,
                                                    int64_t offset) const {
  auto known = variables.find(segment);
  if (known == variables.end())
    return {offset, offset + 1};
  auto next = known->second.upper_bound(offset);
  if (next == known->second.begin())
    return {offset, offset + 1};
  auto [begin, variable] = *std::prev(next);
  int64_t end = begin + getCopyBytes(variable);
  return offset < end ? Range{begin, end} : Range{offset, offset + 1};
}

/// Returns the range of a place for one copy. With a stride, the place contains
/// parts of variables whose copies have the same stride. Without a stride, it
/// contains whole variables with all their copies. Reports an error otherwise.
FailureOr<ScheduleContents::Range>
ScheduleContents::findCopiesRange(Operation *op, PlaceAttr at,
                                  int64_t bytes) const {
  int64_t segment = at.getNumber(), begin = at.getOffset();
  int64_t end = begin + bytes, stride = at.getStride();
  if (stride > 0 && job.copies > 1 &&
      stride > (getBytes(segment) - end) / (job.copies - 1))
    return op->emitOpError("reaches beyond segment ")
           << segment << " of " << getBytes(segment) << " bytes: " << job.copies
           << " copies lie " << stride << " bytes apart from byte " << begin
           << " on";
  auto known = variables.find(segment);
  if (known == variables.end())
    return Range{begin, end};
  for (auto [offset, variable] : known->second) {
    int64_t apart = variable.getLocation()->getStride();
    int64_t own = offset + getCopyBytes(variable);
    int64_t all = own + apart * (countStoredCopies(variable) - 1);
    bool isWhole = begin <= offset && all <= end;
    bool isApart = stride > 0 ? own <= begin || end <= offset
                              : all <= begin || end <= offset;
    if (!isApart && (stride > 0 ? apart != stride : !isWhole))
      return op->emitOpError("is for a part of variable '")
             << variable.getSymName() << "', whose copies lie " << apart
             << " bytes apart from byte " << offset << " on";
  }
  return Range{begin, end};
}

//===----------------------------------------------------------------------===//
// Bytes that other ranks change
//===----------------------------------------------------------------------===//

SmallVector<std::pair<int64_t, ScheduleContents::Range>>
ScheduleContents::findWritten(TaskOp task) {
  SmallVector<std::pair<int64_t, Range>> written;
  for (auto [segment, offset] : getLeft(task).written)
    written.push_back({segment, findRange(segment, offset)});
  return written;
}

/// Returns the ranges of the variables in the bytes at a place.
SmallVector<ScheduleContents::Range>
ScheduleContents::findCovered(PlaceAttr place, int64_t bytes) const {
  SmallVector<Range> covered;
  int64_t begin = place.getOffset(), end = begin + bytes;
  if (auto known = variables.find(place.getNumber()); known != variables.end())
    for (auto [offset, variable] : known->second)
      if (begin <= offset && offset < end)
        covered.push_back({offset, offset + getCopyBytes(variable)});
  return covered;
}

/// Notes the effects of commands that other replicas run. Moments that another
/// rank has taken are zero here, which is also how its task leaves them.
LogicalResult ScheduleContents::pass(OnlyOp only) {
  auto note = [&](int64_t segment, Range range) {
    if (getSegment(segment).getRole() != Role::workspace && isHere(segment) &&
        !taken[segment].hasAll(range.begin, range.end))
      old[segment].add(range.begin, range.end);
  };
  only.walk([&](ScheduleCommandOpInterface command) {
    if (auto run = dyn_cast<RunOp>(*command))
      for (auto [segment, range] :
           findWritten(symbols.lookup<TaskOp>(run.getTask())))
        note(segment, range);
    for (const CommandAccess &access : command.getAccesses())
      if (access.kind != CommandAccess::Kind::read &&
          access.place.getSpace() == Space::segment)
        for (Range range : findCovered(access.place, access.bytes))
          note(access.place.getNumber(), range);
  });
  return success();
}

LogicalResult ScheduleContents::readOthers(Operation *op, int64_t segment,
                                           Range range) const {
  auto isIn = [&](const std::map<int64_t, ByteSet> &all) {
    auto known = all.find(segment);
    return known != all.end() && known->second.hasSome(range.begin, range.end);
  };
  if (isIn(taken))
    return op->emitOpError("reads moments in segment ")
           << segment << " that another rank has taken";
  if (isIn(old))
    return op->emitOpError("reads bytes of segment ")
           << segment << " that only other replicas have changed";
  return success();
}

/// Checks the values that a task reads. Bytes that it writes without having
/// read them become valid.
LogicalResult ScheduleContents::readOthers(RunOp run, TaskOp task) {
  if (old.empty() && taken.empty())
    return success();
  for (auto [segment, offset] : getLeft(task).found)
    if (failed(readOthers(run, segment, findRange(segment, offset))))
      return failure();
  for (auto [segment, range] : findWritten(task))
    old[segment].remove(range.begin, range.end);
  return success();
}

/// Returns whether later steps continue from values of this role, so that
/// checkpoints contain them.
static bool outlivesCalls(Role role) {
  switch (role) {
  case Role::parameter:
  case Role::gradient:
  case Role::moment:
  case Role::optimizer_state:
  case Role::curvature:
  case Role::statistics:
  case Role::result:
    return true;
  case Role::constant:
  case Role::saved:
  case Role::cut:
  case Role::workspace:
  case Role::scratch:
  case Role::input:
  case Role::output:
  case Role::scalar:
  case Role::exchange:
  case Role::received:
    return false;
  }
  llvm_unreachable("all roles are above");
}

LogicalResult ScheduleContents::checkOthers(ScheduleOp schedule) const {
  for (auto &[segment, bytes] : old)
    if (outlivesCalls(getSegment(segment).getRole()) && !bytes.isEmpty())
      return schedule.emitOpError("leaves old values in segment ")
             << segment << " on a rank, as only other replicas have changed it";
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

LogicalResult ScheduleContents::broadcast(BroadcastBytesOp broadcast) {
  bool receives =
      rank.findSource(broadcast.getFrom(), broadcast.getTo()).has_value();
  int64_t segment = broadcast.getAt().getNumber();
  FailureOr<Range> range =
      findCopiesRange(broadcast, broadcast.getAt(), broadcast.getBytes());
  if (failed(range))
    return failure();
  if (!receives) {
    if (failed(readOthers(broadcast, segment, *range)))
      return failure();
    return readSums(broadcast, segment, 0, getBytes(segment));
  }
  old[segment].remove(range->begin, range->end);
  taken[segment].remove(range->begin, range->end);
  if (getSegment(segment).getRole() == Role::result)
    undelivered[segment].add(range->begin, range->end);
  return success();
}

/// Takes one group's sums, which then count as complete. Bytes outside of
/// variables needn't be taken.
LogicalResult ScheduleContents::takeGroup(TakeGroupOp take) {
  PlaceAttr at = take.getAt();
  int64_t segment = at.getNumber();
  auto group = static_cast<int64_t>(take.getGroup());
  if (group >= getGroups(segment))
    return take.emitOpError("takes group ")
           << group << ", but there are only " << getGroups(segment);
  FailureOr<Range> range = findCopiesRange(take, at, take.getBytes());
  if (failed(range))
    return failure();
  ByteSet &open = sums[segment].open;
  int64_t times = at.getStride() > 0 ? job.copies : 1;
  for (int64_t copy = 0; copy < times; ++copy) {
    int64_t begin = range->begin + copy * at.getStride();
    int64_t end = range->end + copy * at.getStride();
    if (!open.hasAll(begin, end))
      return take.emitOpError("takes a group's sums in segment ")
             << segment << " that are already complete";
    open.remove(begin, end);
  }
  if (!rank.hasGroup(group)) {
    taken[segment].add(range->begin, range->end);
    addedMoments.erase(segment);
  }
  bool isSome = llvm::any_of(variables[segment], [&](auto &entry) {
    int64_t end = entry.first + getCopyBytes(entry.second);
    return open.hasSome(entry.first, end);
  });
  if (!isSome)
    open = ByteSet();
  return success();
}
