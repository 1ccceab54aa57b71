//===- MeasuredStep.h - A step's model by measured times --------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H
#define HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H

#include "Hfta/Planning/SpillPlan.h"
#include "Hfta/Transforms/MeasuredTasks.h"
#include "Hfta/Transforms/StepCosts.h"
#include "SpillModeler.h"

namespace mlir::hfta {

/// Puts measured times in the place of estimated ones, and the store's rates,
/// if they were measured. What a block takes that was measured as a part of a
/// larger one is the part of it that was estimated. `cuts` are those between
/// the model's blocks, in the form of `hfta.cuts`. An error says which cut of
/// the measured program isn't one of them.
llvm::Error measureStep(const MeasuredTasks &measured, ArrayAttr cuts,
                        const Job &job, planning::SpillModel &model);

/// Of the tasks that a plan's blocks become.
StepCosts getStepCosts(const MeasuredTasks &measured, const Job &job,
                       const planning::SpillModel &model,
                       const planning::SpillPlan &plan);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEASUREDSTEP_H
