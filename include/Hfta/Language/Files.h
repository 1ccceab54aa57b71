//===- Files.h - Files that jobs and command lines name ---------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FILES_H
#define HFTA_LANGUAGE_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::hfta {

/// Returns the path of `path` relative to a folder; absolute paths stay as they
/// are.
std::string getPathFrom(llvm::StringRef folder, llvm::StringRef path);

/// Reads a file's text. The error says which file can't be read, and why.
/// Folders are refused, and so are devices, which may have no end.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openText(llvm::StringRef path);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FILES_H
