//===- Plan.h - Memory and cost of a planned module -------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_H
#define HFTA_DRIVER_PLAN_H

#include "Hfta/Planning/Timeline.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

class BudgetReport;

/// Prints the segments by role, or the budget report of a job with a memory
/// budget, and the cost of every task. The module must be in phase `planned`;
/// any other one is diagnosed.
LogicalResult printPlan(ModuleOp module, BudgetReport *budget, raw_ostream &os);

/// Estimates the step with inverses of a preconditioner whose work replicas
/// share, for each stage as if it were alone; returns nothing for other jobs.
/// Diagnoses a plan that isn't complete.
FailureOr<std::optional<planning::Timeline>>
drawPreconditioner(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_H
