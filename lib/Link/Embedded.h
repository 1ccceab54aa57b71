//===- Embedded.h - Files inside the compiler -------------------*- C++ -*-===//

#ifndef HFTA_LIB_LINK_EMBEDDED_H
#define HFTA_LIB_LINK_EMBEDDED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::hfta {

/// Returns the archive of the C runtime, libhfta_runtime.a.
llvm::StringRef getRuntimeArchive();

/// Returns the object with the function that begins a program.
llvm::StringRef getStartObject();

/// Returns an archive of the functions of libgcc that compiled code calls on
/// processors without conversions of f16.
llvm::StringRef getLibgccArchive();

/// Returns the stubs of the system's libraries, which have the names that
/// glibc.symbols lists, and no code.
llvm::ArrayRef<llvm::StringRef> getStubLibraries();

} // namespace mlir::hfta

#endif // HFTA_LIB_LINK_EMBEDDED_H
