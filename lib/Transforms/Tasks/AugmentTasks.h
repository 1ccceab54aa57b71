//===- AugmentTasks.h - Augmentations, once for all copies ------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_AUGMENTTASKS_H
#define HFTA_LIB_TRANSFORMS_TASKS_AUGMENTTASKS_H

#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// Moves augmentations from the tasks `forward` to tasks `augment`, where they
/// can run once for all copies. Must be called after all tasks of a step that
/// read what forwards save were built.
void buildAugmentTasks(TaskBuilder &tasks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_AUGMENTTASKS_H
