//===- TileKernels.h - Products by warps and by warp groups -----*- C++ -*-===//
//
// Compiles kernels of tiled products for the threads of a GPU, runs them in
// this process, and compares the results of warp groups with those of warps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_TILEKERNELS_H
#define HFTA_UNITTESTS_TILES_TILEKERNELS_H

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace mlir::hfta {

struct ProductCase {
  std::string name; ///< name for messages
  std::string text; ///< text by `ProductText`
  /// Whether a producer warp is expected to copy the operands by tensor maps.
  bool hasMaps;
  int64_t copies = 1;
  std::vector<size_t> shared = {}; ///< the arguments that all copies share
  /// The number of further orders of threads in which the kernel runs.
  uint32_t seeds = 0;
};

std::ostream &operator<<(std::ostream &os, const ProductCase &own);

/// Expects that warps and warp groups compute the same bits, and that these are
/// near the exact sums.
void expectBitsOfWarps(const ProductCase &own);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_TILEKERNELS_H
