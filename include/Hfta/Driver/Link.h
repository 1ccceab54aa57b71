//===- Link.h - Programs and libraries from an object -----------*- C++ -*-===//

#ifndef HFTA_DRIVER_LINK_H
#define HFTA_DRIVER_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Returns the path of the C runtime's archive, which is in ../lib relative to
/// the running program, in a build as in an installation.
llvm::Expected<std::string> findRuntime();

/// Links the contents of object files and the runtime to a program.
llvm::Error linkProgram(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef output);

/// Returns the path of a library's header: "DIR/NAME.h" for "DIR/libNAME.a".
std::string getHeaderPath(llvm::StringRef name, llvm::StringRef output);

/// Writes the archive `output` (".../libNAME.a"), which holds the given objects
/// and those of the runtime, and the header NAME.h next to it.
llvm::Error writeLibrary(llvm::ArrayRef<std::string> objects,
                         llvm::StringRef name, llvm::StringRef output);

/// Returns the text of a generated library's header. The header needs no other
/// file.
std::string makeLibraryHeader(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_LINK_H
