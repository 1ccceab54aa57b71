//===- Input.h - From input files to a module -------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUT_INPUT_H
#define HFTA_LIB_DRIVER_INPUT_INPUT_H

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "Hfta/Language/FrontEnd.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::hfta {

struct LoadedModule {
  /// The prefix of its symbols: the job's name or, for one of several arrays of
  /// a search, JOB.NUMBER; empty for a module without a job.
  std::string name;
  std::string
      title; ///< the job's name, and the choices of its array, for users
  OwningOpRef<ModuleOp> module;
  Phase phase = &phases::import;
  PipelineRequest pipeline; ///< the request to the planner
  int64_t array = 0;        ///< its number among the arrays of the job's search
};

/// Reads the inputs, and appends an entry to `loaded` for each job to compile,
/// in the order of the file. Returns `done`, or the error's code; errors are
/// written to `errors` or reported to the context. `sources` owns the texts
/// that were read.
ExitCode loadInputs(const DriverOptions &options, MLIRContext *context,
                    llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                    std::vector<LoadedModule> &loaded);

/// Adds a text file to `sources` and returns its buffer's number; 0 after an
/// error, which was written to `errors`.
unsigned readText(llvm::StringRef path, llvm::SourceMgr &sources,
                  llvm::raw_ostream &errors);

/// Reads the arrays that `--constant` binds to names. Returns `unsupported` if
/// all errors are about file formats that aren't supported.
ExitCode readConstants(llvm::ArrayRef<ConstantBinding> bindings,
                       MLIRContext *context, llvm::raw_ostream &errors,
                       llvm::StringMap<DenseElementsAttr> &constants);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUT_INPUT_H
