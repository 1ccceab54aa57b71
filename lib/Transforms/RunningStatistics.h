//===- RunningStatistics.h - Updates of running statistics ------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H
#define HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Assigns the ops of a training step that update running statistics, and serve
/// nothing else, to the statistics tasks of the blocks whose values they use.
/// `tags` has the ops of the forward. A statistic that the forward uses itself
/// stays with it: the next micro-batch must read the value that this one has
/// written. Where several replicas compute micro-batches, that is diagnosed.
LogicalResult assignStatistics(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H
