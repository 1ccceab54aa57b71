//===- SimulateWorkload.h - hftac --simulate --------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_SIMULATEWORKLOAD_H
#define HFTA_DRIVER_PLAN_SIMULATEWORKLOAD_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

/// Simulates schedules of the workload that the options name, prints the
/// duration of each, and draws one as a timeline if the options ask for that.
/// Returns `done`, or another code after writing an error message to `errors`.
ExitCode simulateWorkload(const DriverOptions &options,
                          llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_SIMULATEWORKLOAD_H
