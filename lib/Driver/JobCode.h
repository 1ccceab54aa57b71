//===- JobCode.h - The code of one job --------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBCODE_H
#define HFTA_LIB_DRIVER_JOBCODE_H

#include "GpuCodegen.h"
#include "Hfta/Driver/Codegen.h"
#include "Hfta/Driver/CommandLine.h"
#include "KernelObjects.h"

#include <functional>

namespace mlir::hfta {

/// Returns the prefix that distinguishes the symbols of programs that are
/// linked together.
inline std::string getSymbolPrefix(llvm::StringRef job) {
  return (job + "/").str();
}

/// Whether the host program that links the output of this phase may call
/// backward several times before an update (gradient accumulation).
bool accumulates(Phase phase);

/// Checks that a module in a phase fits the options' target and the output that
/// is asked for; writes to `errors` if it doesn't.
ExitCode checkTarget(ModuleOp module, Phase phase, const DriverOptions &options,
                     llvm::raw_ostream &errors);
/// Checks that the options' target can train such a job, once everything is
/// planned.
ExitCode checkJobOnTarget(ModuleOp module, const DriverOptions &options,
                          llvm::raw_ostream &errors);

/// A job's module, lowered through all phases of MLIR, with everything that
/// making its code needs.
struct JobCode {
  ModuleOp module;
  llvm::StringRef job;                  ///< the job's name
  llvm::ArrayRef<std::string> programs; ///< the symbols of all jobs' programs
  const DriverOptions &options;
  const GpuCodeRequest &gpu; ///< for target `cuda`
  std::function<void(llvm::StringRef)>
      begin; ///< called when a long step begins
  llvm::raw_ostream &errors;

  KernelObjects &kernels;

  /// Writes the output that `--emit` asks for, or adds objects that are to be
  /// linked.
  ExitCode generate(std::vector<std::string> &objects);

private:
  ExitCode fail(ExitCode code, llvm::Error error);
  ExitCode emitPtx(GpuCodeGenerator &generator);
  ExitCode makeImages(std::vector<GpuImage> &images, bool &isDone);
  std::vector<std::string> addEntries(CodeGenerator &generator,
                                      llvm::StringRef library);
  ExitCode emitText(CodeGenerator &generator);
  ExitCode emitObjects(CodeGenerator &generator, llvm::StringRef library,
                       std::vector<std::string> &objects);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_JOBCODE_H
