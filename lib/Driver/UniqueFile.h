//===- UniqueFile.h - Files under names that no other file has --*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_UNIQUEFILE_H
#define HFTA_LIB_DRIVER_UNIQUEFILE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorOr.h"

#include <string>

namespace mlir::hfta {

/// Creates an empty file and returns its path: `begin`, random digits that make
/// it unique, `end`. LLVM's createUniqueFile isn't used, because it replaces
/// each '%' of a path, also those of the user's folders.
llvm::ErrorOr<std::string> createUniqueFile(const llvm::Twine &begin,
                                            const llvm::Twine &end,
                                            unsigned mode);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_UNIQUEFILE_H
