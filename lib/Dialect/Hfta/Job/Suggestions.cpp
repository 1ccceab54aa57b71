//===- Suggestions.cpp - Corrections of misspelt names --------------------===//

#include "Hfta/Dialect/Hfta/Job/Suggestions.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::hfta;

llvm::StringRef
mlir::hfta::findNearest(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef nearest;
  if (name.size() < 2)
    return nearest;
  unsigned best =
      name.size() == 2 ? 2 : std::max<unsigned>(2, name.size() / 3) + 1;
  for (llvm::StringRef candidate : candidates) {
    unsigned distance =
        name.equals_insensitive(candidate)
            ? 0
            : name.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string mlir::hfta::suggest(llvm::StringRef name,
                                llvm::ArrayRef<llvm::StringRef> candidates,
                                llvm::StringRef what) {
  if (candidates.empty())
    return "";
  llvm::StringRef nearest = findNearest(name, candidates);
  if (!nearest.empty())
    return ("did you mean '" + nearest + "'?").str();
  if (candidates.size() == 1)
    return (what + ": '" + candidates.front() + "'").str();
  return (what + ": '" + llvm::join(candidates, "', '") + "'").str();
}
