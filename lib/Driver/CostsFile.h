//===- CostsFile.h - The file that --costs names ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COSTSFILE_H
#define HFTA_LIB_DRIVER_COSTSFILE_H

#include "Hfta/Driver/CommandLine.h"
#include "Hfta/Driver/ExitCode.h"
#include "Hfta/Planning/MeasuredCosts.h"
#include "Input.h"

namespace mlir::hfta {

/// Tells what is wrong with a file of costs, and what makes them.
ExitCode failCosts(llvm::StringRef path, llvm::Error error,
                   llvm::raw_ostream &errors);

/// Reads the options' file. Nothing after an error, which has been told.
std::optional<planning::MeasuredCosts>
readCostsFile(const DriverOptions &options, llvm::raw_ostream &errors);

/// Whether costs are of a program of this model and so many copies; an error
/// says what it differs in.
llvm::Error checkCosts(const planning::MeasuredCosts &costs,
                       llvm::StringRef model, int64_t copies);

/// Whether a job that was loaded has a preconditioner whose work several
/// replicas of its only stage share: costs say who does what of it.
bool takesKfacCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Whether a job that was loaded has a budget of memory that a step of one
/// worker is planned for.
bool takesBudgetCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Reads the options' file, and leaves what it says in the module, for when
/// tasks are made.
ExitCode loadTaskCosts(const DriverOptions &options, LoadedModule &loaded,
                       llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COSTSFILE_H
