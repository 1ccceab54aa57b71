//===- SimulateSchedule.h - What a step within a budget takes ---*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_SIMULATESCHEDULE_H
#define HFTA_TRANSFORMS_SIMULATESCHEDULE_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "Hfta/Transforms/StepCosts.h"

namespace mlir::hfta {

/// A step that follows many others, of a scheduled module whose transfers are
/// planned, on one worker that has all micro-batches: what is read and written,
/// and what each queue does when, as the runtime does it. Where some of it is
/// done in certain steps alone, times and bytes are the mean of such steps, and
/// events those of a step that does it all. Where copies take turns of several
/// steps, they are the mean of 50, and events are those within the turns. What
/// ranks exchange takes no time here, and neither do tasks that the costs don't
/// name. Diagnoses a module that has no schedule of steps.
FailureOr<planning::SpillRun> simulateSchedule(ModuleOp module, const Job &job,
                                               const StepCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SIMULATESCHEDULE_H
