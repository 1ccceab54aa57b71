//===- ScheduledTasks.h - Tasks as lists of launches ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULEDTASKS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULEDTASKS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Turns each task's function, which holds launches alone, into an hfta.task at
/// the end of the module, in the module's order.
void convertTasks(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULEDTASKS_H
