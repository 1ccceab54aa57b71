//===- RunProgram.h - Other programs ----------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_RUNPROGRAM_H
#define HFTA_LIB_DRIVER_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Runs a program, given by its path as the first argument, and waits for its
/// end. The error is "cannot WORK: …", followed by the program's own output.
llvm::Error runProgram(llvm::ArrayRef<llvm::StringRef> arguments,
                       llvm::StringRef work);

/// Returns the first C compiler on the path; it knows where the C library is.
llvm::Expected<std::string> findCompiler();

/// Returns the path of LLVM's linker, from the folder of `compiler`, if that is
/// a clang, or from the path; empty if there is none, or if it can't write
/// `output`: like LLVM's createUniqueFile it replaces each '%' of a path. It
/// takes a fraction of the time that others take.
std::string findLld(llvm::StringRef compiler, llvm::StringRef output);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_RUNPROGRAM_H
