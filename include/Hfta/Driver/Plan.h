//===- Plan.h - Memory and cost of a planned module -------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_H
#define HFTA_DRIVER_PLAN_H

#include "Hfta/Planning/Timeline.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

class BudgetReport;

/// Prints the segments by role, or of a job with a budget of memory what is
/// known of it, and the cost of every task. The module is in phase `planned`;
/// diagnoses one that isn't.
LogicalResult printPlan(ModuleOp module, BudgetReport *budget, raw_ostream &os);

/// The step with inverses of a preconditioner whose work replicas share, as it
/// is estimated, of each stage as if it were alone; nothing for other jobs.
/// Diagnoses a plan that isn't whole.
FailureOr<std::optional<planning::Timeline>>
drawPreconditioner(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_H
