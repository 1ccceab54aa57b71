//===- PlanReport.h - Writes plans and draws them ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLANREPORT_H
#define HFTA_LIB_DRIVER_PLANREPORT_H

#include "Hfta/Driver/CommandLine.h"
#include "Planner.h"

namespace mlir::hfta {

/// Whether a plan's or a simulation's outputs replace no input and no other
/// output of its own.
bool checkPlanOutputs(const DriverOptions &options, llvm::raw_ostream &errors);

/// Prints the plan, writes it where `-o` says, and draws its step where
/// `--timeline` does.
ExitCode reportPlan(const SimulatedPlan &result, const DriverOptions &options,
                    llvm::raw_ostream &errors);

/// Draws it where `--timeline` says, with the trace of `--trace` beside it.
ExitCode writeTimeline(const planning::Timeline &timeline,
                       const DriverOptions &options, llvm::raw_ostream &errors);

/// Says in a line what was planned.
void reportStages(const planning::PipelinePlan &plan, llvm::StringRef label,
                  llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLANREPORT_H
