//===- CheckGradients.h - hftac --check-gradients ---------------*- C++ -*-===//

#ifndef HFTA_DRIVER_CHECKGRADIENTS_H
#define HFTA_DRIVER_CHECKGRADIENTS_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

/// Trains the options' model on the batch of its record, in this process and in
/// f64, and compares losses, gradients and running statistics with those of the
/// record. Returns `input` where they differ.
ExitCode checkGradients(const DriverOptions &options,
                        llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_CHECKGRADIENTS_H
