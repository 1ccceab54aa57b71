//===- LlvmCode.h - Machines and passes of LLVM's ---------------*- C++ -*-===//
//
// What code for the host and code for GPUs have in common.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_LLVMCODE_H
#define HFTA_LIB_DRIVER_LLVMCODE_H

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mlir::hfta {

inline constexpr llvm::StringLiteral kHostTriple = "x86_64-unknown-linux-gnu";

/// A code generator that is registered, for position-independent code with
/// sections of their own for functions and data. It fuses no multiply-adds but
/// those that the module asks for. An error where LLVM has none.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef triple, llvm::StringRef cpu,
                    llvm::StringRef features);

/// LLVM's analyses, which know each other, for the passes of a builder.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &builder);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

/// The module as text or as an object.
llvm::Expected<std::string> emitCode(llvm::TargetMachine &machine,
                                     llvm::Module &module,
                                     llvm::CodeGenFileType type);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LLVMCODE_H
