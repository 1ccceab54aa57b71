//===- CostsFile.h - The file that --costs names ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COSTSFILE_H
#define HFTA_LIB_DRIVER_COSTSFILE_H

#include "Hfta/Driver/CommandLine.h"
#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Planning/MeasuredCosts.h"
#include "Input.h"

namespace mlir::hfta {

/// Reports an error in a file of costs, and how to make such a file.
ExitCode failCosts(llvm::StringRef path, llvm::Error error,
                   llvm::raw_ostream &errors);

/// Reads the file that the options name. Returns nothing after an error, which
/// has been reported.
std::optional<planning::MeasuredCosts>
readCostsFile(const DriverOptions &options, llvm::raw_ostream &errors);

/// Checks that the costs are those of a program of this model with this number
/// of copies; the error says how it differs.
llvm::Error checkCosts(const planning::MeasuredCosts &costs,
                       llvm::StringRef model, int64_t copies);

/// Whether a loaded job has a preconditioner whose work several replicas of its
/// only stage share: the costs decide who does which part of it.
bool takesKfacCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Whether a loaded job has a memory budget for which a step of one worker is
/// planned.
bool takesBudgetCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Reads the file that the options name, and notes its contents on the module
/// for the time when tasks are made.
ExitCode loadTaskCosts(const DriverOptions &options, LoadedModule &loaded,
                       llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COSTSFILE_H
