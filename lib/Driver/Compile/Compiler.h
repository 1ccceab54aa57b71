//===- Compiler.h - The compilation of job files ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMPILE_COMPILER_H
#define HFTA_LIB_DRIVER_COMPILE_COMPILER_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

/// Compiles as the options say, and returns the exit code. Diagnostics go to
/// `errors`.
ExitCode compile(const DriverOptions &options, llvm::raw_ostream &errors);

/// Compiles the options' generated job. Sets `objects` to the contents of
/// object files that together define kProgramSymbol.
ExitCode compileObjects(const DriverOptions &options, llvm::raw_ostream &errors,
                        std::vector<std::string> &objects);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMPILE_COMPILER_H
