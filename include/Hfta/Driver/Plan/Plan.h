//===- Plan.h - Memory and cost of a planned module -------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_PLAN_H
#define HFTA_DRIVER_PLAN_PLAN_H

#include "Hfta/Planning/Common/Timeline.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

class BudgetReport;

/// Prints the cost of each task, and either the segments by role or, for a job
/// with a memory budget, `budget`, which is null for other jobs. Reports an
/// error if the module isn't in phase `planned`.
LogicalResult printPlan(ModuleOp module, BudgetReport *budget, raw_ostream &os);

/// Returns the estimated timeline of a step with inversions, for a job whose
/// replicas share the work of a preconditioner. Each stage is simulated as if
/// it were alone. Returns nothing for other jobs; reports an error if the
/// module's plan is ill-formed.
FailureOr<std::optional<planning::Timeline>>
drawPreconditioner(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_PLAN_H
