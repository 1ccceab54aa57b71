//===- CheckGradients.h - hftac --check-gradients ---------------*- C++ -*-===//

#ifndef HFTA_DRIVER_GRADIENTS_CHECKGRADIENTS_H
#define HFTA_DRIVER_GRADIENTS_CHECKGRADIENTS_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

/// Compares the gradients that Hfta computes with those in a record that
/// PyTorch has written. Trains the options' model in this process, in f64, on
/// the record's batch, and compares losses, gradients and running statistics.
/// Returns `done` if they agree and `input` if they differ; other codes as in
/// `compile`.
ExitCode checkGradients(const DriverOptions &options,
                        llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_GRADIENTS_CHECKGRADIENTS_H
