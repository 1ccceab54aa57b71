//===- UniqueFile.h - Creates files with unique names -----------*- C++ -*-===//

#ifndef HFTA_SUPPORT_UNIQUEFILE_H
#define HFTA_SUPPORT_UNIQUEFILE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorOr.h"

#include <string>

namespace mlir::hfta {

/// Creates an empty file, with `mode` as permissions, and returns its path:
/// `begin`, random digits, `end`. Replaces LLVM's createUniqueFile, which
/// changes each '%' of a path, including those in the names of the user's
/// folders.
llvm::ErrorOr<std::string> createUniqueFile(const llvm::Twine &begin,
                                            const llvm::Twine &end,
                                            unsigned mode);

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_UNIQUEFILE_H
