//===- PackedTriangle.cpp - Symmetric matrices, packed --------------------===//

#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"

#include <cmath>

std::optional<int64_t> mlir::hfta::getPackedSize(int64_t side) {
  if (side < 0 || side >= int64_t(1) << 31)
    return std::nullopt;
  return side * (side + 1) / 2;
}

std::optional<int64_t> mlir::hfta::getPackedSide(int64_t size) {
  if (size < 0 || size >= int64_t(1) << 61)
    return std::nullopt;
  auto side = static_cast<int64_t>(std::sqrt(2.0 * static_cast<double>(size)));
  for (int64_t near = side > 0 ? side - 1 : 0; near <= side + 1; ++near)
    if (getPackedSize(near) == size)
      return near;
  return std::nullopt;
}
