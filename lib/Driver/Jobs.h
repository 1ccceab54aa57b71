//===- Jobs.h - The jobs of a file ------------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBS_H
#define HFTA_LIB_DRIVER_JOBS_H

#include "Hfta/Driver/CommandLine.h"
#include "Hfta/Language/AST.h"

namespace mlir::hfta {

/// Keeps in `file` the train blocks to compile: the one that `--job` names, or
/// else all. Returns `done`, or another code after writing to `errors` what
/// can't be done with several jobs.
ExitCode chooseJobs(const DriverOptions &options, ast::JobFile &file,
                    llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_JOBS_H
