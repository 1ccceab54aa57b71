//===- Suggestions.h - Corrections of misspelt names ------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_SUGGESTIONS_H
#define HFTA_DIALECT_HFTA_JOB_SUGGESTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta {

/// Returns the candidate of which `name` is probably a misspelling, by edit
/// distance; empty if none is near enough.
llvm::StringRef findNearest(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// Returns a hint for a message about an unknown name: "did you mean 'x'?" if a
/// candidate is near, else the text `what` and all candidates, "WHAT: 'a',
/// 'b'"; empty if there are no candidates.
std::string suggest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates,
                    llvm::StringRef what);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_SUGGESTIONS_H
