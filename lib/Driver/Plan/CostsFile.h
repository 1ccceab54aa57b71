//===- CostsFile.h - The file that --costs names ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_COSTSFILE_H
#define HFTA_LIB_DRIVER_PLAN_COSTSFILE_H

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "Hfta/Support/ExitCode.h"
#include "Input/Input.h"

namespace mlir::hfta {

/// Writes an error about a file of costs to `errors`, with a hint how to make
/// such a file, and returns the exit code.
ExitCode failCosts(llvm::StringRef path, llvm::Error error,
                   llvm::raw_ostream &errors);

/// Reads the file of `--costs`. Returns nothing after an error, which was
/// written to `errors`.
std::optional<planning::MeasuredCosts>
readCostsFile(const DriverOptions &options, llvm::raw_ostream &errors);

/// Checks that the costs were measured for a program of this model with this
/// number of copies. The error says how the program differs.
llvm::Error checkCosts(const planning::MeasuredCosts &costs,
                       llvm::StringRef model, int64_t copies);

/// Returns whether `--costs` matters for the job's preconditioner: several
/// replicas of the job's only stage share its work, and the costs decide which
/// replica does what.
bool takesKfacCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Returns whether `--costs` matters for the job's memory budget: a step of one
/// worker is planned for it.
bool takesBudgetCosts(const DriverOptions &options, const LoadedModule &loaded);

/// Reads the file of `--costs` and notes its contents on the module, for the
/// passes that plan tasks.
ExitCode loadTaskCosts(const DriverOptions &options, LoadedModule &loaded,
                       llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_COSTSFILE_H
