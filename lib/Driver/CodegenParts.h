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

/// Cuts a module into parts with about as many instructions each, which can be
/// optimized and compiled by themselves and are then linked together. How many
/// follows from the module alone. Functions that call each other stay together;
/// variables that functions don't keep to themselves stay in the first part.
/// Private symbols that other parts refer to become hidden ones whose names
/// begin with `prefix`.
std::vector<Bitcode> splitModule(llvm::Module &module, llvm::StringRef prefix);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_CODEGENPARTS_H
