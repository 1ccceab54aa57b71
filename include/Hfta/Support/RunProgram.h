//===- RunProgram.h - Runs other programs -----------------------*- C++ -*-===//

#ifndef HFTA_SUPPORT_RUNPROGRAM_H
#define HFTA_SUPPORT_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Runs a program and waits for its end. The first argument is the program's
/// path. The error is "cannot WORK: …", followed by the program's output. If
/// `output` isn't empty, standard output goes to this file, which exists, and
/// not into the error.
llvm::Error runProgram(llvm::ArrayRef<llvm::StringRef> arguments,
                       llvm::StringRef work, llvm::StringRef output = "");

/// Returns the path of the first C compiler that is found through PATH. As a
/// linker driver it knows where the C library is.
llvm::Expected<std::string> findCompiler();

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_RUNPROGRAM_H
