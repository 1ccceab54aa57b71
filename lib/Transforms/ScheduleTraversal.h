//===- ScheduleTraversal.h - A worker's commands, one by one ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H
#define HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

#include <set>

namespace mlir::hfta {

/// The micro-batch that a command is for.
struct Moment {
  int64_t first = 0;  ///< how many of the worker's own earlier calls had
  int64_t place = 0;  ///< its index among the worker's own
  int64_t number = 0; ///< its number in the step
  int64_t turn = 0;   ///< the turn of copies
  bool isInMicroBatches = false; ///< whether it is for a certain micro-batch
};

/// One of the ranks that share a stage's replicas, each of which has
/// consecutive ones. If there is one rank, it has all, also where it does
/// several stages' work in one place.
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
  /// Returns the first of some replicas that the rank has, if any.
  std::optional<int64_t> findFirst(ReplicasAttr some) const;
  bool has(ReplicasAttr some) const { return findFirst(some).has_value(); }
  /// Returns the rank that sends it the bytes, if one does; gives returns
  /// whether it sends them to others.
  std::optional<int64_t> findSource(BroadcastBytesOp broadcast) const;
  bool gives(BroadcastBytesOp broadcast) const;

private:
  int64_t replicas, rank, ranks;
};

/// Lists ranks to check: one for all replicas, and the first and the last of as
/// many ranks as replicas; and further ones that differ from these in the
/// commands of some replicas that they run. Other ranks differ in numbers
/// alone. With several stages each worker is a process of its own.
SmallVector<StageRank> listRanks(ScheduleOp schedule, const Job &job);

/// Checks that the replicas that commands name exist: in a schedule of several
/// stages in one place, all do.
LogicalResult verifyReplicas(ScheduleOp schedule, const Job &job);

/// Visits a schedule's commands as the host of one worker does in one call;
/// repeated commands, and those of an order, are visited once per micro-batch.
class ScheduleTraversal {
public:
  virtual ~ScheduleTraversal() = default;

protected:
  /// `own`: the worker's micro-batches, out of `microBatches` in the call.
  ScheduleTraversal(StageRank rank, SmallVector<int64_t> own,
                    int64_t microBatches)
      : rank(rank), own(std::move(own)), microBatches(microBatches) {}

  LogicalResult traverse(Block &commands);
  /// Visits a command that is neither a loop nor a choice of commands.
  virtual LogicalResult visit(Operation *command) = 0;
  /// Called instead of visiting the body of an `hfta.only` that none of the
  /// rank's replicas runs.
  virtual LogicalResult pass(OnlyOp only) { return success(); }

  /// Returns the micro-batch's event, where events take turns; nothing past the
  /// last one.
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

  /// Whether the host of the call runs the commands in `every`.
  bool isFor(EveryOp every) const;

  StageRank rank;
  SmallVector<int64_t> own;
  int64_t microBatches;
  /// Periods for which no copy is due.
  std::set<StringRef> idle;
  /// The number of turns to visit: the copies of a second turn use the places
  /// of the first one's.
  int64_t turns = 2;
  Moment now;

private:
  LogicalResult repeat(RepeatOp repeat);
  LogicalResult perform(ActionsOp actions);
  LogicalResult traverseFor(int64_t place, Block &commands);
};

/// Finds the periods by which schedules below an op choose copies.
std::set<StringRef> findPeriods(Operation *op);

/// Returns the micro-batches, out of `microBatches`, that belong to a stage's
/// rank.
SmallVector<int64_t> getMicroBatchesOf(const Job &job, int64_t stage,
                                       const StageRank &rank,
                                       int64_t microBatches);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H
