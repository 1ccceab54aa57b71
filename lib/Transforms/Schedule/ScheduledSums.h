//===- ScheduledSums.h - Tasks that add up the sums of groups ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDSUMS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDSUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace mlir::hfta {

/// A part of a segment in which one command adds up the sums of groups.
struct SumBucket {
  TaskOp task;
  int64_t bytes;
  PlaceAttr at;      ///< its stride is the size of a block in bytes
  PlaceAttr through; ///< the place that receives other ranks' sums
};

/// The tasks that add one group's sums to another group's, one for each segment
/// with instances for several groups, and the segment that receives other
/// ranks' sums. There are none if there is a single group.
class ScheduledSums {
public:
  /// Adds the tasks, their kernels and the segment to the module. `groupOf`
  /// contains the segments that aren't added up, because they use the sums of
  /// one group only.
  ScheduledSums(ModuleOp module, const Job &job,
                const std::map<int64_t, int64_t> &groupOf);

  /// Returns the buckets of all segments of this role and block.
  SmallVector<SumBucket> getBuckets(Role role, int64_t block) const;
  /// Returns the buckets of all segments of this role, one segment after the
  /// other.
  SmallVector<SumBucket> getBuckets(Role role) const;

private:
  struct Sums {
    int64_t segment;
    SegmentAttr attribute;
    int64_t blockBytes;
    TaskOp task;
  };

  bool holdsEvaluations(int64_t segment);
  void addSums(int64_t number, SegmentAttr segment);
  void addLaunch(Sums &sums, RankedTensorType type, int64_t offset,
                 int64_t stride);
  func::FuncOp getKernel(RankedTensorType type);
  void addBuckets(const Sums &sums, SmallVectorImpl<SumBucket> &buckets) const;

  ModuleOp module;
  const Job &job;
  int64_t received = 0; ///< segment of received sums
  SmallVector<Sums> all;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDSUMS_H
