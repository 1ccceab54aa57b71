//===- MeasuredStep.h - Measured times in the model of a step ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SPILL_MEASUREDSTEP_H
#define HFTA_LIB_TRANSFORMS_SPILL_MEASUREDSTEP_H

#include "Hfta/Planning/Spill/SpillPlan.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"
#include "Hfta/Transforms/Tasks/StepCosts.h"
#include "Spill/SpillModeler.h"

namespace mlir::hfta {

/// Replaces estimated times in the model by measured ones, and the store's
/// rates, if they were measured. If a block was measured as a part of a larger
/// one, it gets the fraction of the measured time that was estimated for it.
/// `cuts` are the cuts between the model's blocks, in the form of `hfta.cuts`.
/// Returns an error if a cut of the measured program isn't one of them.
llvm::Error measureStep(const MeasuredTasks &measured, ArrayAttr cuts,
                        const Job &job, planning::SpillModel &model);

/// Returns the seconds of the tasks that result from a plan's blocks, for all
/// copies of one micro-batch, or of a step for the tasks that run once per
/// step.
StepCosts getStepCosts(const MeasuredTasks &measured, const Job &job,
                       const planning::SpillModel &model,
                       const planning::SpillPlan &plan);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILL_MEASUREDSTEP_H
