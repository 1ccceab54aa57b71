//===- SpillProblem.h - The planning problem of a memory budget -*- C++ -*-===//
//
// A pass that plans a step for several budgets models it once. The chosen plan
// stands in the module's dictionary `hfta.spill_plan` until hfta-plan-spill
// carries it out.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_SPILLPROBLEM_H
#define HFTA_TRANSFORMS_SPILLPROBLEM_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillPlan.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

/// The model of a step, and the job's demands on its plans.
struct SpillProblem {
  planning::SpillModel model;
  planning::SpillRequest request;
};

/// Models a step of a module that hfta-differentiate has made, with measured
/// costs if it has some. Errors in these, or in the module, are diagnosed.
FailureOr<SpillProblem> makeSpillProblem(ModuleOp module, const Job &job);

void noteSpillPlan(ModuleOp module, const planning::SpillPlan &plan);

/// Takes the plan out of the module; nothing where there is none. A plan for
/// another model is diagnosed at the module.
FailureOr<std::optional<planning::SpillPlan>>
takeSpillPlan(ModuleOp module, const planning::SpillModel &model);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SPILLPROBLEM_H
