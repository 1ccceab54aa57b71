//===- Driver.h - The compiler as a function --------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_DRIVER_H
#define HFTA_DRIVER_DRIVER_H

#include "Hfta/Driver/CommandLine.h"

namespace mlir::hfta {

/// Compiles as the options say, and returns the exit code. Diagnostics go to
/// `errors`.
ExitCode compile(const DriverOptions &options, llvm::raw_ostream &errors);

/// Compiles the options' generated job. Sets `objects` to the contents of
/// object files that together define kProgramSymbol.
ExitCode compileObjects(const DriverOptions &options, llvm::raw_ostream &errors,
                        std::vector<std::string> &objects);

/// Runs `hftac`: reads the arguments, acts on them, and returns the exit code.
/// Installs handlers for fatal signals, after which the process exits with code
/// 70.
int runDriver(int argc, const char *const *argv);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_DRIVER_H
