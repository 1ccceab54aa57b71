//===- Link.h - Programs and libraries from an object -----------*- C++ -*-===//

#ifndef HFTA_DRIVER_LINK_H
#define HFTA_DRIVER_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// The C runtime's archive, looked up beside the running program: in ../lib of
/// a build or an installation.
llvm::Expected<std::string> findRuntime();

/// Links object files' contents and the runtime to a program.
llvm::Error linkProgram(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef output);

/// Where the header of a library "DIR/libNAME.a" lies: "DIR/NAME.h".
std::string getHeaderPath(llvm::StringRef name, llvm::StringRef output);

/// Writes the archive `output` (".../libNAME.a") with the objects and the
/// runtime's, and the header NAME.h beside it.
llvm::Error writeLibrary(llvm::ArrayRef<std::string> objects,
                         llvm::StringRef name, llvm::StringRef output);

/// Text of the header of a generated library. It needs no other file.
std::string makeLibraryHeader(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_LINK_H
