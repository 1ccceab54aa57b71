//===- RunningStatistics.h - Updates of running statistics ------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_RUNNINGSTATISTICS_H
#define HFTA_LIB_TRANSFORMS_TASKS_RUNNINGSTATISTICS_H

#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {

/// Assigns the ops of a training step that only update running statistics to
/// the statistics tasks of the blocks whose values they use. `tags` are those
/// of the forward's ops. If the forward itself uses a statistic, its update
/// stays in the forward, because the next micro-batch must read the value that
/// this one has written. Reports an error if several replicas compute
/// micro-batches with such a statistic.
LogicalResult assignStatistics(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_RUNNINGSTATISTICS_H
