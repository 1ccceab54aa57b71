//===- LlvmCode.h - LLVM's target machines and passes -----------*- C++ -*-===//
//
// Functions that code generation for the host and for GPUs have in common.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CODEGEN_LLVMCODE_H
#define HFTA_CODEGEN_LLVMCODE_H

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mlir::hfta {

inline constexpr llvm::StringLiteral kHostTriple = "x86_64-unknown-linux-gnu";

/// Creates a target machine for position-independent code, with a section for
/// each function and variable. Multiplications and additions are fused only
/// where the module says so. The error is that LLVM lacks this target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef triple, llvm::StringRef cpu,
                    llvm::StringRef features);

/// The analysis managers of LLVM's pass manager, registered with a pass
/// builder.
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

#endif // HFTA_CODEGEN_LLVMCODE_H
