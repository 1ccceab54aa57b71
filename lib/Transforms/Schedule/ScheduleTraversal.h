//===- ScheduleTraversal.h - Visits a worker's commands ---------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULETRAVERSAL_H
#define HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULETRAVERSAL_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

#include <set>

namespace mlir::hfta {

/// The micro-batch for which a command runs.
struct Moment {
  int64_t first = 0;  ///< number of the worker's micro-batches in earlier calls
  int64_t place = 0;  ///< its index among the worker's micro-batches
  int64_t number = 0; ///< its number in the step
  int64_t turn = 0;   ///< the turn of copies
  bool isInMicroBatches = false; ///< whether a certain micro-batch is meant
};

/// One of the ranks that share a stage's replicas. Each rank has consecutive
/// replicas. A single rank has all of them, even if it does several stages'
/// work in one place.
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
  /// Returns the first of the given replicas that the rank has, if any.
  std::optional<int64_t> findFirst(ReplicasAttr some) const;
  bool has(ReplicasAttr some) const { return findFirst(some).has_value(); }
  /// Returns the rank that sends the bytes of a broadcast from the replicas
  /// `from` to the replicas `to` to the rank; nothing if it receives none.
  std::optional<int64_t> findSource(ReplicasAttr from, ReplicasAttr to) const;
  /// Returns whether the rank sends bytes of such a broadcast to others.
  bool gives(ReplicasAttr from, ReplicasAttr to) const;

private:
  int64_t replicas, rank, ranks;
};

/// Lists the ranks to check: a single one for all replicas; the first and the
/// last of as many ranks as there are replicas; and others that run other sets
/// of the commands of some replicas. All other ranks differ from these only in
/// numbers. With several stages, each worker is a process of its own.
SmallVector<StageRank> listRanks(ScheduleOp schedule, const Job &job);

/// Checks that the replicas that commands name exist. In a schedule of several
/// stages in one place, all of them exist.
LogicalResult verifyReplicas(ScheduleOp schedule, const Job &job);

/// Visits a schedule's commands as the host of one worker does in one call. The
/// bodies of loops over micro-batches, and cases of actions, are visited once
/// per micro-batch.
class ScheduleTraversal {
public:
  virtual ~ScheduleTraversal() = default;

protected:
  /// `own` are the worker's micro-batches, out of `microBatches` in the call.
  ScheduleTraversal(StageRank rank, SmallVector<int64_t> own,
                    int64_t microBatches)
      : rank(rank), own(std::move(own)), microBatches(microBatches) {}

  LogicalResult traverse(Block &commands);
  /// Visits a command that is neither a loop nor a choice of commands.
  virtual LogicalResult visit(ScheduleCommandOpInterface command) = 0;
  /// Called for an `hfta.only` that none of the rank's replicas runs, instead
  /// of a visit to its body.
  virtual LogicalResult pass(OnlyOp only) { return success(); }

  /// Returns the number of the command's event for the current micro-batch,
  /// whose number depends on it if the event has several instances. Returns
  /// nothing if the command has none, or for micro-batches after the last one.
  std::optional<int64_t> findEvent(ScheduleCommandOpInterface command) const;
  bool isPastLast(int64_t ahead) const {
    return ahead > 0 && now.place + ahead >= static_cast<int64_t>(own.size());
  }

  /// Returns whether the host of the call runs the commands in `every`.
  bool isFor(EveryOp every) const;

  StageRank rank;
  SmallVector<int64_t> own;
  int64_t microBatches;
  /// Periods for which no copy is due.
  std::set<StringRef> idle;
  /// The number of turns to visit. Two suffice for checks, since the copies of
  /// a second turn use the places of the first turn's.
  int64_t turns = 2;
  Moment now;

private:
  LogicalResult repeat(RepeatOp repeat);
  LogicalResult perform(ActionsOp actions);
  LogicalResult traverseFor(int64_t place, Block &commands);
};

/// Finds the periods by which commands inside of an op choose copies.
std::set<StringRef> findPeriods(Operation *op);

/// Returns the micro-batches, out of `microBatches`, that belong to a rank of a
/// stage.
SmallVector<int64_t> getMicroBatchesOf(const Job &job, int64_t stage,
                                       const StageRank &rank,
                                       int64_t microBatches);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULETRAVERSAL_H
