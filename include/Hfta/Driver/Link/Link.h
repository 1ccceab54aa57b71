//===- Link.h - Programs and libraries from an object -----------*- C++ -*-===//

#ifndef HFTA_DRIVER_LINK_LINK_H
#define HFTA_DRIVER_LINK_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Returns the path of the C runtime's archive. It is in the folder ../lib
/// relative to the running program, both in a build and in an installation.
llvm::Expected<std::string> findRuntime();

/// Links object files, given by their contents, and the runtime to the program
/// `output`.
llvm::Error linkProgram(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef output);

/// Returns the path of a library's header: "DIR/NAME.h" for "DIR/libNAME.a".
std::string getHeaderPath(llvm::StringRef name, llvm::StringRef output);

/// Writes the archive `output` (".../libNAME.a") with the given objects and
/// those of the runtime, and the header NAME.h next to it.
llvm::Error writeLibrary(llvm::ArrayRef<std::string> objects,
                         llvm::StringRef name, llvm::StringRef output);

/// Returns the text of a generated library's header, which includes no header
/// of Hfta.
std::string makeLibraryHeader(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_LINK_LINK_H
