//===- ElementCounts.cpp - Numbers of elements of shapes ------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

int64_t hfta::multiplySizes(llvm::ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(product, size, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t hfta::countAlong(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> sizes;
  for (int64_t axis : axes)
    sizes.push_back(shape[axis]);
  return multiplySizes(sizes);
}
