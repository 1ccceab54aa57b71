//===- JobCode.h - Code generation for one job ------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMPILE_JOBCODE_H
#define HFTA_LIB_DRIVER_COMPILE_JOBCODE_H

#include "Hfta/Codegen/Codegen.h"
#include "Hfta/Codegen/KernelObjects.h"
#include "Hfta/Driver/CommandLine/CommandLine.h"

#include <functional>

namespace mlir::hfta {

/// Returns the prefix of the symbols of a job's program, which is linked
/// together with those of other jobs.
inline std::string getSymbolPrefix(llvm::StringRef job) {
  return (job + "/").str();
}

/// Returns whether the host program that links this phase's output may call
/// backward several times before an update (gradient accumulation).
bool accumulates(Phase phase);

/// Checks that a module in this phase fits the options' target and the
/// requested output. Errors are written to `errors`.
ExitCode checkTarget(ModuleOp module, Phase phase, const DriverOptions &options,
                     llvm::raw_ostream &errors);
/// Checks that the options' target can train the job. The job's pipeline must
/// have been planned.
ExitCode checkJobOnTarget(ModuleOp module, const DriverOptions &options,
                          llvm::raw_ostream &errors);

/// A job's module, lowered through all phases of MLIR, with everything that
/// code generation needs.
struct JobCode {
  ModuleOp module;
  llvm::StringRef job;                  ///< the job's name
  llvm::ArrayRef<std::string> programs; ///< symbols of the programs of all jobs
  const DriverOptions &options;
  DeviceCompiler *device; ///< null if all code is for the host
  /// Called with the name of each long step when it begins.
  std::function<void(llvm::StringRef)> begin;
  llvm::raw_ostream &errors;

  KernelObjects &kernels;

  /// Writes the output that `--emit` asks for, or appends objects to `objects`,
  /// to be linked.
  ExitCode generate(std::vector<std::string> &objects);

private:
  ExitCode fail(ExitCode code, llvm::Error error);
  std::vector<std::string> addEntries(CodeGenerator &generator,
                                      llvm::StringRef library);
  ExitCode emitText(CodeGenerator &generator);
  ExitCode emitObjects(CodeGenerator &generator, llvm::StringRef library,
                       std::vector<std::string> &objects);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMPILE_JOBCODE_H
