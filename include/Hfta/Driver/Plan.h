//===- Plan.h - Memory and cost of a planned module -------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_H
#define HFTA_DRIVER_PLAN_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Prints the segments by role and the cost of every task. The module is in
/// phase `planned`; diagnoses one that isn't.
LogicalResult printPlan(ModuleOp module, raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_H
