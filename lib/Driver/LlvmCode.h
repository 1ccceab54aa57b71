//===- LlvmCode.h - LLVM's target machines and passes -----------*- C++ -*-===//
//
// The code that is common to code generation for the host and for GPUs.
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

/// Makes a target machine for position-independent code, in which each function
/// and variable has a section of its own. It fuses multiply-adds only where the
/// module asks for it. Fails if LLVM has no such target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef triple, llvm::StringRef cpu,
                    llvm::StringRef features);

/// LLVM's analyses, registered with each other, for the passes of a builder.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &builder);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

/// Emits the module as text or as an object.
llvm::Expected<std::string> emitCode(llvm::TargetMachine &machine,
                                     llvm::Module &module,
                                     llvm::CodeGenFileType type);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LLVMCODE_H
