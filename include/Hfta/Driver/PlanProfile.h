//===- PlanProfile.h - hftac --plan-pipeline --profile ----------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLANPROFILE_H
#define HFTA_DRIVER_PLANPROFILE_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

/// Plans a pipeline for the options' profile, prints it and writes it if they
/// name an output. Returns `done`, or another code after it has written to
/// `errors` what is wrong.
ExitCode planProfile(const DriverOptions &options, llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLANPROFILE_H
