//===- ReferenceModel.cpp - Costs that are equal on all targets -----------===//

#include "Hfta/Target/ReferenceModel.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::hfta;

double hfta::getVectorCost(int64_t size, Type elementType) {
  int64_t lanes = std::max<int64_t>(1, ReferenceModel::kVectorBits /
                                           elementType.getIntOrFloatBitWidth());
  double vectors = static_cast<double>(size / lanes) +
                   llvm::popcount(static_cast<uint64_t>(size % lanes));
  return vectors / static_cast<double>(size);
}
