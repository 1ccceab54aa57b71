//===- SimulateWorkload.h - hftac --simulate --------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_SIMULATEWORKLOAD_H
#define HFTA_DRIVER_SIMULATEWORKLOAD_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

/// Simulates the schedules of the options' workload, prints the duration of
/// each, and draws one if the options ask for it. Returns `done`, or another
/// code after writing an error message to `errors`.
ExitCode simulateWorkload(const DriverOptions &options,
                          llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_SIMULATEWORKLOAD_H
