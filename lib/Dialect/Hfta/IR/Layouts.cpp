//===- Layouts.cpp - The order in which axes are stored -------------------===//

#include "Hfta/Dialect/Hfta/IR/Layouts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::hfta;

SmallVector<int64_t> hfta::getChannelsLast(size_t rank) {
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(permutation.begin() + 1, permutation.begin() + 2,
              permutation.end());
  return permutation;
}

SmallVector<int64_t> hfta::getChannelsFirst(size_t rank) {
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(permutation.begin() + 1, permutation.end() - 1,
              permutation.end());
  return permutation;
}

SmallVector<int64_t> hfta::permute(ArrayRef<int64_t> values,
                                   ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation,
                             [&](int64_t axis) { return values[axis]; });
}
