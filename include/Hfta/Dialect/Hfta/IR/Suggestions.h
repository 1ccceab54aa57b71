//===- Suggestions.h - Corrections of misspelt names ------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_SUGGESTIONS_H
#define HFTA_DIALECT_HFTA_IR_SUGGESTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta {

/// Returns the candidate that `name` is probably a misspelling of; empty if
/// none is near.
llvm::StringRef findNearest(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// Returns "did you mean 'x'?" if a candidate is near, otherwise "`what` are
/// 'a', 'b'"; empty without candidates.
std::string suggest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates,
                    llvm::StringRef what);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_SUGGESTIONS_H
