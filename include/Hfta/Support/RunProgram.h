//===- RunProgram.h - Runs other programs -----------------------*- C++ -*-===//

#ifndef HFTA_SUPPORT_RUNPROGRAM_H
#define HFTA_SUPPORT_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Runs a program and waits for its end. The first argument is the program's
/// path. The error is "cannot WORK: …", followed by the program's output.
llvm::Error runProgram(llvm::ArrayRef<llvm::StringRef> arguments,
                       llvm::StringRef work);

/// Returns the path of the first C compiler that is found through PATH. As a
/// linker driver it knows where the C library is.
llvm::Expected<std::string> findCompiler();

/// Returns the path of LLVM's linker, which is several times as fast as others,
/// from the folder of `compiler`, if that is a clang, or through PATH. Empty if
/// there is none, or if the linker can't write `output`: like LLVM's
/// createUniqueFile, it replaces each '%' of a path.
std::string findLld(llvm::StringRef compiler, llvm::StringRef output);

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_RUNPROGRAM_H
