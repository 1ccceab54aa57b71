//===- TriangleSums.h - Moments as packed triangles of sums -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H

#include "LoweringUtils.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {

/// The parameters by which sums of products become a moment.
struct MomentScaling {
  Type accumulate;
  double scale;
  bool ones; ///< whether the matrix has one more column, which consists of ones
  Value
      sum; ///< the moment to which the new one is added; null if there is none
  /// The number of columns of a diagonal block, if only diagonal blocks of the
  /// matrix are computed. Set only for moments of convolutions' windows.
  std::optional<int64_t> blockColumns = std::nullopt;

  int64_t getSide(int64_t columns) const { return columns + (ones ? 1 : 0); }
  /// Returns the number of rows of each packed matrix, which is the whole
  /// matrix or one of its diagonal blocks.
  int64_t getBlockSide(int64_t columns) const {
    return blockColumns.value_or(getSide(columns));
  }
  int64_t countBlocks(int64_t columns) const {
    return blockColumns ? llvm::divideCeil(getSide(columns), *blockColumns) : 1;
  }
  /// Scales `sum`, which has the type `accumulate`, and adds `before` if it
  /// isn't null. Returns a value of the type `accumulate`.
  Value apply(OpBuilder &builder, Location loc, Value sum, Value before) const;
};

/// Computes the packed second moments of `input`, [rows, blocks, rows,
/// columns]: a tensor [blocks, packed]. Only tiles on and below the diagonal
/// are computed, one after the other. The result is a loop over strips of rows,
/// marked `hfta.parts`, that can be cut into work items. Each element is the
/// sum over the input's rows, in their order.
Value createTriangle(OpBuilder &builder, Location loc, Value input,
                     const MomentScaling &scaling);

/// Unpacks packed lower triangles to full symmetric matrices: [blocks, side,
/// side].
Value createUnpacked(OpBuilder &builder, Location loc, Value packed,
                     int64_t side);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TRIANGLESUMS_H
