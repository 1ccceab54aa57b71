//===- PlanProfile.h - hftac --plan-pipeline --profile ----------*- C++ -*-===//

#ifndef HFTA_DRIVER_PLAN_PLANPROFILE_H
#define HFTA_DRIVER_PLAN_PLANPROFILE_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

/// Plans a pipeline for the layer profile that the options name, prints the
/// plan, and writes it to the output file if the options name one. Returns
/// `done`, or another code after writing an error message to `errors`.
ExitCode planProfile(const DriverOptions &options, llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PLAN_PLANPROFILE_H
