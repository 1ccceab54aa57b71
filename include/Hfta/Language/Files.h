//===- Files.h - Files that jobs and command lines name ---------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FILES_H
#define HFTA_LANGUAGE_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::hfta {

/// Returns `path` if it is absolute, else `path` relative to `folder`.
std::string getPathFrom(llvm::StringRef folder, llvm::StringRef path);

/// Returns the format of data that a file's name suggests, as jobs name it:
/// "npy", "csv", "raw" or "idx"; empty if it suggests none.
llvm::StringRef guessDataFormat(llvm::StringRef path);

/// Reads the text of a file. The error says which file can't be read, and why.
/// Refuses folders, and devices, because reading a device may never end.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openText(llvm::StringRef path);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FILES_H
