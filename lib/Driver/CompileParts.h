//===- CompileParts.h - Parts of a program to objects -----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMPILEPARTS_H
#define HFTA_LIB_DRIVER_COMPILEPARTS_H

#include "CodegenParts.h"

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Returns the object of a part's module, which it may change. Used by one
/// thread.
using PartCompiler =
    llvm::unique_function<llvm::Expected<std::string>(llvm::Module &part)>;

/// Returns the objects of all parts, in their order. Several threads compile
/// them, each with a compiler of its own that `createCompiler` makes, the parts
/// with the most instructions first. Objects of kernels that were compiled
/// before come from the user's cache.
llvm::Expected<std::vector<std::string>>
compileParts(llvm::ArrayRef<CodePart> parts,
             llvm::function_ref<llvm::Expected<PartCompiler>()> createCompiler);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMPILEPARTS_H
