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

/// Whether `compiler` is a clang that finds LLVM's linker in its own folder or
/// on the path. That linker takes a fraction of the time.
bool canUseLld(llvm::StringRef compiler);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_RUNPROGRAM_H
