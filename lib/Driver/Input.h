//===- Input.h - From input files to a module -------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUT_H
#define HFTA_LIB_DRIVER_INPUT_H

#include "Hfta/Driver/CommandLine.h"
#include "Hfta/Language/FrontEnd.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::hfta {

struct LoadedModule {
  std::string
      name; ///< the job's name; empty if the module was given without a job
  OwningOpRef<ModuleOp> module;
  Phase phase = Phase::import;
  PipelineRequest pipeline; ///< the job's request to the planner
};

/// Reads the inputs; `loaded` gets an entry for each job to compile, in the
/// order of the file. Returns `done`, or another code after an error was
/// written to `errors` or reported to the context. The texts that were read
/// stay in `sources`.
ExitCode loadInputs(const DriverOptions &options, MLIRContext *context,
                    llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                    std::vector<LoadedModule> &loaded);

/// Adds a file to `sources` and returns its number, 0 after an error.
unsigned readText(llvm::StringRef path, llvm::SourceMgr &sources,
                  llvm::raw_ostream &errors);

/// Reads the arrays of `--constant`. Returns `unsupported` if all errors are
/// about forms of files that aren't supported.
ExitCode readConstants(llvm::ArrayRef<ConstantBinding> bindings,
                       MLIRContext *context, llvm::raw_ostream &errors,
                       llvm::StringMap<DenseElementsAttr> &constants);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUT_H
