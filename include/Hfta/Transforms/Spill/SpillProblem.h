//===- SpillProblem.h - The planning problem of a memory budget -*- C++ -*-===//
//
// The planning of a step for memory budgets. A step is modelled once and can be
// planned for several budgets. The chosen plan is stored in the module's
// dictionary `hfta.spill_plan` until hfta-plan-spill carries it out.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_SPILL_SPILLPROBLEM_H
#define HFTA_TRANSFORMS_SPILL_SPILLPROBLEM_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Spill/SpillPlan.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

/// The model of a step, and the job's demands on its plan.
struct SpillProblem {
  planning::SpillModel model;
  planning::SpillRequest request;
};

/// Models a step of a module in the form that hfta-differentiate leaves, with
/// the module's measured costs if it has any. Reports an error if the costs or
/// the module are wrong.
FailureOr<SpillProblem> makeSpillProblem(ModuleOp module, const Job &job);

/// Stores a plan in the module.
void noteSpillPlan(ModuleOp module, const planning::SpillPlan &plan);

/// Removes the plan from the module and returns it; nothing if the module has
/// none. Reports an error if the plan is for another model.
FailureOr<std::optional<planning::SpillPlan>>
takeSpillPlan(ModuleOp module, const planning::SpillModel &model);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SPILL_SPILLPROBLEM_H
