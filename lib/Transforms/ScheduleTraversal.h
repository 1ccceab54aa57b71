//===- ScheduleTraversal.h - A worker's commands, one by one ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H
#define HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <set>

namespace mlir::hfta {

/// Which micro-batch a command is for.
struct Moment {
  int64_t first = 0;  ///< how many of the worker's own the calls before had
  int64_t place = 0;  ///< its place among the worker's own
  int64_t number = 0; ///< its number in the step
  int64_t turn = 0;   ///< of copies
  bool isInMicroBatches = false; ///< a certain one
};

/// One of the ranks that share a stage's replicas, each of which has
/// consecutive ones. One rank has all, also where it does several stages' in
/// one place.
class StageRank {
public:
  StageRank(int64_t replicas, int64_t rank, int64_t ranks)
      : replicas(replicas), rank(rank), ranks(ranks) {}

  int64_t getRankOf(int64_t replica) const {
    return ranks == 1 ? 0 : ((replica + 1) * ranks - 1) / replicas;
  }
  bool hasGroup(int64_t group) const {
    return getRankOf(group % replicas) == rank;
  }
  /// The first of some replicas that it has, if any.
  std::optional<int64_t> findFirst(ReplicasAttr some) const;
  bool has(ReplicasAttr some) const { return findFirst(some).has_value(); }
  /// The rank that gives it bytes, if one does; whether it gives them to some.
  std::optional<int64_t> findSource(BroadcastBytesOp broadcast) const;
  bool gives(BroadcastBytesOp broadcast) const;

private:
  int64_t replicas, rank, ranks;
};

/// The ranks that differ: one for all replicas, and the first and the last of
/// as many ranks; others differ from these in no more than numbers, or else in
/// what some replicas alone do, or give. With several stages each worker is by
/// itself, wherever it is.
SmallVector<StageRank> listRanks(ScheduleOp schedule, const Job &job);

/// That the replicas which commands tell of are there: of a schedule of several
/// stages in one place, all are.
LogicalResult verifyReplicas(ScheduleOp schedule, const Job &job);

/// Goes through a schedule's commands as the host of one worker does in one
/// call, with what repeats and what an order lists as often as there are
/// micro-batches.
class ScheduleTraversal {
public:
  virtual ~ScheduleTraversal() = default;

protected:
  /// `own`: the micro-batches that are the worker's, of so many of the call.
  ScheduleTraversal(StageRank rank, SmallVector<int64_t> own,
                    int64_t microBatches)
      : rank(rank), own(std::move(own)), microBatches(microBatches) {}

  LogicalResult traverse(Block &commands);
  /// A command that is neither repeated nor one of several.
  virtual LogicalResult visit(Operation *command) = 0;
  /// What other replicas alone do.
  virtual LogicalResult pass(OnlyOp only) { return success(); }

  /// Of events that take turns, the micro-batch's; none past the last one.
  template <typename OpTy>
  std::optional<int64_t> getEvent(OpTy op) const {
    auto event = static_cast<int64_t>(op.getEvent());
    auto ahead = static_cast<int64_t>(op.getAhead());
    if (!now.isInMicroBatches)
      return event;
    if (isPastLast(ahead))
      return std::nullopt;
    return event +
           (now.place + ahead) % static_cast<int64_t>(op.getInstances());
  }
  bool isPastLast(int64_t ahead) const {
    return ahead > 0 && now.place + ahead >= static_cast<int64_t>(own.size());
  }

  /// Whether the host of the call does what `every` is for.
  bool isFor(EveryOp every) const;

  StageRank rank;
  SmallVector<int64_t> own;
  int64_t microBatches;
  /// Periods by which no copy is due.
  std::set<StringRef> idle;
  /// The copies of a second turn use what those of the first one did.
  int64_t turns = 2;
  Moment now;

private:
  LogicalResult repeat(RepeatOp repeat);
  LogicalResult perform(ActionsOp actions);
  LogicalResult traverseFor(int64_t place, Block &commands);
};

/// The periods by which schedules below an op choose copies.
std::set<StringRef> findPeriods(Operation *op);

/// The micro-batches of so many that belong to a stage's rank.
SmallVector<int64_t> getMicroBatchesOf(const Job &job, int64_t stage,
                                       const StageRank &rank,
                                       int64_t microBatches);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H
