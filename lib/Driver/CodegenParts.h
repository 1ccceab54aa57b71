//===- CodegenParts.h - An LLVM module in parts -----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_CODEGENPARTS_H
#define HFTA_LIB_DRIVER_CODEGENPARTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace mlir::hfta {

/// Bitcode of a module.
using Bitcode = llvm::SmallVector<char, 0>;

/// Splits a module into parts with roughly equal numbers of instructions, which
/// can be optimized and compiled separately and are linked afterwards. The
/// number of parts depends only on the module. Functions that call each other
/// stay together; variables that aren't copied into each part stay in the first
/// one. Private symbols that other parts refer to become hidden ones, with
/// names that begin with `prefix`.
std::vector<Bitcode> splitModule(llvm::Module &module, llvm::StringRef prefix);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_CODEGENPARTS_H
