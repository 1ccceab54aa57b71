//===- Lld.h - LLVM's linker as part of the compiler ------------*- C++ -*-===//
//
// lld may end its process when it finds an error, and it keeps state in global
// variables. So a compiler that contains it runs itself as a child process,
// with `kLldArgument` first, and this child calls `runLld`.
//
//===----------------------------------------------------------------------===//

#ifndef HFTA_LINK_LLD_H
#define HFTA_LINK_LLD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta {

/// The first argument of a compiler that shall run as lld with the others.
constexpr llvm::StringLiteral kLldArgument = "--run-lld";

/// Sets the path of the program that runs as lld after `kLldArgument`, as a
/// rule the one of this process. Without it there is no `Linker::lld`.
void setLldProgram(std::string path);

/// Runs lld for ELF files with the given arguments, without a program's name,
/// and returns its exit status. Writes messages to standard error. A program
/// that refers to this function contains lld.
int runLld(llvm::ArrayRef<const char *> arguments);

} // namespace mlir::hfta

#endif // HFTA_LINK_LLD_H
