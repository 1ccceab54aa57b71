//===- TriangleSums.h - Moments as packed triangles of sums -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H

#include "LoweringUtils.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {

/// How sums of products become a moment.
struct MomentScaling {
  Type accumulate;
  double scale;
  bool ones; ///< whether the matrix has one more column, of ones
  Value sum; ///< the moment that the result is added to; null if there is none
  /// The number of columns of a diagonal block, if only diagonal blocks are
  /// computed; only for moments of patches.
  std::optional<int64_t> blockColumns = std::nullopt;

  int64_t getSide(int64_t columns) const { return columns + (ones ? 1 : 0); }
  /// Returns the rows of each packed matrix: the whole matrix, or one of its
  /// blocks.
  int64_t getBlockSide(int64_t columns) const {
    return blockColumns.value_or(getSide(columns));
  }
  int64_t countBlocks(int64_t columns) const {
    return blockColumns ? llvm::divideCeil(getSide(columns), *blockColumns) : 1;
  }
  /// Scales `sum`, which has the accumulator's type, to an element of the
  /// result, and adds `before`, if it isn't null.
  Value apply(OpBuilder &builder, Location loc, Value sum, Value before) const;
};

/// Computes the packed moments of `input`, [rows, blocks, rows, columns], as
/// [blocks, packed]. Only tiles on and below the diagonal are computed, one
/// after the other; a loop over strips of the result's rows can be cut into
/// work items. Each element is a sum over the rows in their order.
Value createTriangle(OpBuilder &builder, Location loc, Value input,
                     const MomentScaling &scaling);

/// Unpacks the triangles of symmetric matrices: [blocks, side, side].
Value createUnpacked(OpBuilder &builder, Location loc, Value packed,
                     int64_t side);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
