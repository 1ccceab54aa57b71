//===- Library.h - Generated libraries and their headers --------*- C++ -*-===//

#ifndef HFTA_LINK_LIBRARY_H
#define HFTA_LINK_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

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

#endif // HFTA_LINK_LIBRARY_H
