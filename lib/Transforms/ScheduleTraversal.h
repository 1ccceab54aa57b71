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
  bool isInMicroBatches = false; ///< a certain one
};

/// Goes through a schedule's commands as the host of one worker does in one
/// call, with what repeats and what an order lists as often as there are
/// micro-batches.
class ScheduleTraversal {
public:
  virtual ~ScheduleTraversal() = default;

protected:
  /// `own`: the micro-batches that are the worker's, of so many of the call.
  ScheduleTraversal(SmallVector<int64_t> own, int64_t microBatches)
      : own(std::move(own)), microBatches(microBatches) {}

  LogicalResult traverse(Block &commands);
  /// A command that is neither repeated nor one of several.
  virtual LogicalResult visit(Operation *command) = 0;

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

/// The micro-batches of so many that belong to a stage's worker.
SmallVector<int64_t> getMicroBatchesOf(const Job &job, int64_t stage,
                                       int64_t worker, int64_t workers,
                                       int64_t microBatches);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULETRAVERSAL_H
