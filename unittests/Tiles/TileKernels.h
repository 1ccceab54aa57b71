//===- TileKernels.h - Products by warps and by warp groups -----*- C++ -*-===//
//
// Compiles a kernel that is a product, in tiles, for the threads of a GPU, and
// compares in this process the result of warp groups with that of warps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_TILEKERNELS_H
#define HFTA_UNITTESTS_TILES_TILEKERNELS_H

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace mlir::hfta {

struct ProductCase {
  std::string name; ///< for messages
  std::string text; ///< by `ProductText`
  /// Whether a producer warp copies operands by tensor maps.
  bool hasMaps;
  int64_t copies = 1;
  std::vector<size_t> shared = {}; ///< arguments that all copies share
  /// The number of other orders in which threads run.
  uint32_t seeds = 0;
};

std::ostream &operator<<(std::ostream &os, const ProductCase &own);

/// Expects that both give the same bits, which are near the exact sums.
void expectBitsOfWarps(const ProductCase &own);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_TILEKERNELS_H
