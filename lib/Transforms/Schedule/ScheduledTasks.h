//===- ScheduledTasks.h - Tasks as lists of launches ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDTASKS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDTASKS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Converts each task's function, which consists of launches, into an hfta.task
/// at the end of the module, in the order of the functions.
void convertTasks(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEDTASKS_H
