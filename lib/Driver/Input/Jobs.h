//===- Jobs.h - The jobs of a file ------------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUT_JOBS_H
#define HFTA_LIB_DRIVER_INPUT_JOBS_H

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "Hfta/Language/FrontEnd.h"

namespace mlir::hfta {

/// Removes train blocks from `file` unless they are to be compiled: only the
/// one that `--job` names is, or all of them without that option. Returns
/// `done`, or another code after an error was written to `errors`, such as an
/// option that can't be used with several jobs.
ExitCode chooseJobs(const DriverOptions &options, ast::JobFile &file,
                    llvm::raw_ostream &errors);

/// Checks that no option is for one module only, if a job's search has several
/// arrays, each of which is a module. Returns `done`, or another code after an
/// error was written to `errors`.
ExitCode checkArrays(const DriverOptions &options,
                     const std::vector<JobModule> &jobs,
                     llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUT_JOBS_H
