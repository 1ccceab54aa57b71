//===- TriangleSums.h - Half of a square of products ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H

#include "LoweringUtils.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {

/// What a moment becomes of the sums of products.
struct MomentScaling {
  Type accumulate;
  double scale;
  bool ones; ///< whether there is one more column, of ones
  Value sum; ///< what is added to; null if nothing is
  /// Columns of a diagonal block, where these alone are computed; of patches.
  std::optional<int64_t> blockColumns = std::nullopt;

  int64_t getSide(int64_t columns) const { return columns + (ones ? 1 : 0); }
  /// Rows of what is packed: of the matrix, or of each of its blocks.
  int64_t getBlockSide(int64_t columns) const {
    return blockColumns.value_or(getSide(columns));
  }
  int64_t countBlocks(int64_t columns) const {
    return blockColumns ? llvm::divideCeil(getSide(columns), *blockColumns) : 1;
  }
  /// The result's number for `sum` in the accumulator's type; `before` is what
  /// it is added to, if anything is.
  Value apply(OpBuilder &builder, Location loc, Value sum, Value before) const;
};

/// The packed moments of `input`, [rows, blocks, rows, columns]: [blocks,
/// packed]. Only tiles on and below the diagonal are computed, one after the
/// other; a loop over strips of rows of the result can be cut into work items.
/// Each element is a sum over the rows in their order.
Value createTriangle(OpBuilder &builder, Location loc, Value input,
                     const MomentScaling &scaling);

/// The whole matrices of packed triangles: [blocks, side, side].
Value createUnpacked(OpBuilder &builder, Location loc, Value packed,
                     int64_t side);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
