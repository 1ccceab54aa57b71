//===- JobCode.h - The code of one job --------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBCODE_H
#define HFTA_LIB_DRIVER_JOBCODE_H

#include "GpuCodegen.h"
#include "Hfta/Driver/Codegen.h"
#include "Hfta/Driver/CommandLine.h"

#include <functional>

namespace mlir::hfta {

/// What tells the symbols of programs that are linked together apart.
inline std::string getSymbolPrefix(llvm::StringRef job) {
  return (job + "/").str();
}

/// Whether who links what a phase gives may ask for several backwards before an
/// update.
bool accumulates(Phase phase);

/// Whether a module in a phase is for the options' target, if it is for one,
/// and for what is to come of it; writes to `errors` what is against it.
ExitCode checkTarget(ModuleOp module, Phase phase, const DriverOptions &options,
                     llvm::raw_ostream &errors);
/// Whether the options' target trains such a job, after all that is planned.
ExitCode checkJobOnTarget(ModuleOp module, const DriverOptions &options,
                          llvm::raw_ostream &errors);

/// A job's module, whose phases are behind it, and what code is made of it for.
struct JobCode {
  ModuleOp module;
  llvm::StringRef job;                  ///< its name
  llvm::ArrayRef<std::string> programs; ///< symbols, of all jobs
  const DriverOptions &options;
  const GpuCodeRequest &gpu;                  ///< of target `cuda`
  std::function<void(llvm::StringRef)> begin; ///< of a step that takes a while
  llvm::raw_ostream &errors;

  /// Writes what `--emit` says, or adds the objects of what is to be linked.
  ExitCode generate(std::vector<std::string> &objects);

private:
  ExitCode fail(ExitCode code, llvm::Error error);
  ExitCode emitPtx(GpuCodeGenerator &generator);
  ExitCode makeImages(std::vector<GpuImage> &images, bool &isDone);
  std::vector<std::string> addEntries(CodeGenerator &generator,
                                      llvm::StringRef library);
  ExitCode emit(CodeGenerator &generator, std::vector<std::string> &objects);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_JOBCODE_H
