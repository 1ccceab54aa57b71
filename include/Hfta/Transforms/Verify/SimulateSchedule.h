//===- SimulateSchedule.h - Simulation of a step with a budget --*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_VERIFY_SIMULATESCHEDULE_H
#define HFTA_TRANSFORMS_VERIFY_SIMULATESCHEDULE_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Hfta/Transforms/Tasks/StepCosts.h"

namespace mlir::hfta {

/// Simulates one step, in the steady state, of a scheduled module whose
/// transfers are planned: which bytes are read and written, and when each queue
/// does what, as in the runtime. The step is that of one worker of `stage` that
/// has all of the stage's micro-batches; -1 means the worker of a program of
/// one stage.
///
/// If some commands run only in certain steps, times and bytes are means over
/// such steps, and the events are those of a step with all commands. If each
/// turn runs several steps, they are means over a window of
/// HFTA_DEFAULT_LOG_EVERY steps, and events are those within turns. Exchanges
/// between ranks and stages take no time, nor do tasks without costs. Reports
/// an error if the module has no schedule `step` of this stage.
FailureOr<planning::SpillRun> simulateSchedule(ModuleOp module, const Job &job,
                                               const StepCosts &costs,
                                               int64_t stage);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_VERIFY_SIMULATESCHEDULE_H
