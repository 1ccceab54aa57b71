//===- MeasuredStep.h - A step's model by measured times --------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H
#define HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H

#include "Hfta/Planning/SpillPlan.h"
#include "Hfta/Transforms/MeasuredTasks.h"
#include "Hfta/Transforms/StepCosts.h"
#include "SpillModeler.h"

namespace mlir::hfta {

/// Replaces estimated times by measured ones, and the store's rates, if they
/// were measured. A block that was measured as a part of a larger one gets the
/// fraction of the measured time that was estimated for it. `cuts` are those
/// between the model's blocks, in the form of `hfta.cuts`. An error says which
/// cut of the measured program isn't one of them.
llvm::Error measureStep(const MeasuredTasks &measured, ArrayAttr cuts,
                        const Job &job, planning::SpillModel &model);

/// Returns the costs of the tasks that a plan's blocks become.
StepCosts getStepCosts(const MeasuredTasks &measured, const Job &job,
                       const planning::SpillModel &model,
                       const planning::SpillPlan &plan);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H
