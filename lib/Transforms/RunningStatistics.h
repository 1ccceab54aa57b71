//===- RunningStatistics.h - What keeps running statistics up ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H
#define HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Gives the ops of a training step that keep running statistics up, and serve
/// nothing else, to the statistics tasks of the blocks that they follow from.
/// `tags` has the ops of the forward. A statistic that the forward uses itself
/// stays with it: the next micro-batch must find what this one has written.
/// Where several replicas are to compute micro-batches, that is diagnosed.
LogicalResult assignStatistics(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_RUNNINGSTATISTICS_H
