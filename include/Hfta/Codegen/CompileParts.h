//===- CompileParts.h - Compiles parts of a program -------------*- C++ -*-===//

#ifndef HFTA_CODEGEN_COMPILEPARTS_H
#define HFTA_CODEGEN_COMPILEPARTS_H

#include "Hfta/Codegen/CodegenParts.h"

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Compiles a part's module, which it may change, and returns the object. Only
/// one thread uses it.
using PartCompiler =
    llvm::unique_function<llvm::Expected<std::string>(llvm::Module &part)>;

/// Compiles all parts and returns their objects in the same order. Several
/// threads compile the parts, those with the most instructions first; each
/// thread has a compiler of its own from `createCompiler`. Reusable parts that
/// were compiled before come from the user's cache. An error has a line for
/// each part that failed.
llvm::Expected<std::vector<std::string>>
compileParts(llvm::ArrayRef<CodePart> parts,
             llvm::function_ref<llvm::Expected<PartCompiler>()> createCompiler);

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_COMPILEPARTS_H
