//===- PlanReport.h - Writes plans and draws them ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_PLANREPORT_H
#define HFTA_LIB_DRIVER_PLAN_PLANREPORT_H

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "Plan/Planner.h"

namespace mlir::hfta {

/// Checks that the output files of a plan or a simulation overwrite neither an
/// input nor each other. Otherwise writes an error and returns false.
bool checkPlanOutputs(const DriverOptions &options, llvm::raw_ostream &errors);

/// Prints the plan, writes it to the file of `-o`, and draws its step to the
/// file of `--timeline`.
ExitCode reportPlan(const SimulatedPlan &result, const DriverOptions &options,
                    llvm::raw_ostream &errors);

/// Draws the timeline to the file of `--timeline`, beside the recorded run of
/// `--trace` if that is given.
ExitCode writeTimeline(const planning::Timeline &timeline,
                       const DriverOptions &options, llvm::raw_ostream &errors);

/// Prints a line that summarizes the plan.
void reportStages(const planning::PipelinePlan &plan, llvm::StringRef label,
                  llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_PLANREPORT_H
