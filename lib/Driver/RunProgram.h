//===- RunProgram.h - Other programs ----------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_RUNPROGRAM_H
#define HFTA_LIB_DRIVER_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Runs a program, whose file the first argument is, and waits for its end. A
/// failure is "cannot WORK: …", with what the program wrote behind it.
llvm::Error runProgram(llvm::ArrayRef<llvm::StringRef> arguments,
                       llvm::StringRef work);

/// The first C compiler on the path; it knows where the C library lies.
llvm::Expected<std::string> findCompiler();

/// Whether `compiler` is a clang that has LLVM's linker beside it or on the
/// path. It links in a fraction of the time.
bool canUseLld(llvm::StringRef compiler);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_RUNPROGRAM_H
