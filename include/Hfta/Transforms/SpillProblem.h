//===- SpillProblem.h - What a step within a budget leaves open -*- C++ -*-===//
//
// Who plans a step for several budgets models it once. The plan that is chosen
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

/// A step, and what the job asks of its plans.
struct SpillProblem {
  planning::SpillModel model;
  planning::SpillRequest request;
};

/// Of a module that hfta-differentiate has made, by measured costs if it has
/// some. What is wrong with these, or the module, is diagnosed.
FailureOr<SpillProblem> makeSpillProblem(ModuleOp module, const Job &job);

void noteSpillPlan(ModuleOp module, const planning::SpillPlan &plan);

/// Takes the plan out of the module; nothing where there is none. One that
/// isn't of the model is diagnosed at the module.
FailureOr<std::optional<planning::SpillPlan>>
takeSpillPlan(ModuleOp module, const planning::SpillModel &model);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SPILLPROBLEM_H
