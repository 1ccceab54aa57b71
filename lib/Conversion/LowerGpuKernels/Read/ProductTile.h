//===- ProductTile.h - The tile of a product that a block computes --------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_PRODUCTTILE_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_PRODUCTTILE_H

#include "Read/KernelProduct.h"

namespace mlir::hfta {

/// The sizes of the tile that a block computes, and of each thread's part of
/// it.
struct ProductTile {
  int64_t rows, columns, terms;      ///< per block; `terms` are those of a step
  int64_t threadRows, threadColumns; ///< per thread
  int64_t groups = 1;                ///< groups of threads that share the terms

  int64_t countGroupThreads() const {
    return rows / threadRows * (columns / threadColumns);
  }
  int64_t countThreads() const { return groups * countGroupThreads(); }
  int64_t countBlocks(const KernelProduct &product) const;
  /// Returns the number of steps in which each group adds up its part of
  /// `termCount` terms.
  int64_t countSteps(int64_t termCount) const;

  /// The attribute of the op that holds its tile.
  static constexpr llvm::StringLiteral kAttrName = "hfta.tile";
  static std::optional<ProductTile> get(linalg::GenericOp op);
  void set(linalg::GenericOp op) const;
  /// Chooses the best tile for a product. Returns nothing if independent
  /// threads are as fast, unless `always`. The choice depends on the op alone,
  /// unless the kernel has part sums: then a tile consists of whole parts, but
  /// adds up terms in the same order as the op's tile without parts.
  static std::optional<ProductTile> choose(const KernelProduct &product,
                                           bool always);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_PRODUCTTILE_H
