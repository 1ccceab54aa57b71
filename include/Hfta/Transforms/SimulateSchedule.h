//===- SimulateSchedule.h - Simulation of a step with a budget --*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_SIMULATESCHEDULE_H
#define HFTA_TRANSFORMS_SIMULATESCHEDULE_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "Hfta/Transforms/StepCosts.h"

namespace mlir::hfta {

/// Simulates one step in the steady state of a scheduled module whose transfers
/// are planned, on one worker that has all micro-batches of a stage, or with -1
/// of a program of one stage: which bytes are read and written, and when each
/// queue does what, in the runtime's way. Where some commands run in certain
/// steps alone, times and bytes are the mean of such steps, and events those of
/// a step that does it all. Where copies take turns of several steps, they are
/// the mean of 50, and events are those within the turns. Exchanges between
/// ranks and stages take no time, nor do tasks that the costs don't name.
/// Diagnoses a module that has no schedule of steps.
FailureOr<planning::SpillRun> simulateSchedule(ModuleOp module, const Job &job,
                                               const StepCosts &costs,
                                               int64_t stage);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SIMULATESCHEDULE_H
