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
  std::string name; ///< the job's; empty: it stands in the module alone
  OwningOpRef<ModuleOp> module;
  Phase phase = Phase::import;
  PipelineRequest pipeline; ///< of a job
};

/// Reads the inputs; `loaded` has one of each job that is to be compiled, in
/// the file's order. Returns `done`, or another code after an error has been
/// written to `errors` or to the context. The texts that were read stay in
/// `sources`.
ExitCode loadInputs(const DriverOptions &options, MLIRContext *context,
                    llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                    std::vector<LoadedModule> &loaded);

/// Adds a file to `sources` and returns its number, 0 after an error.
unsigned readText(llvm::StringRef path, llvm::SourceMgr &sources,
                  llvm::raw_ostream &errors);

/// Arrays of `--constant`. False after an error.
bool readConstants(llvm::ArrayRef<ConstantBinding> bindings,
                   MLIRContext *context, llvm::raw_ostream &errors,
                   llvm::StringMap<DenseElementsAttr> &constants);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUT_H
