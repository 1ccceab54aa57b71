//===- SimulateWorkload.h - hftac --simulate --------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_SIMULATEWORKLOAD_H
#define HFTA_DRIVER_SIMULATEWORKLOAD_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

/// Simulates the schedules of the options' workload, prints what each takes and
/// draws one if the options say where. Returns `done`, or another code after it
/// has written to `errors` what is wrong.
ExitCode simulateWorkload(const DriverOptions &options,
                          llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_SIMULATEWORKLOAD_H
