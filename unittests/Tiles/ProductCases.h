//===- ProductCases.h - Matrix products and convolutions --------*- C++ -*-===//
//
// Kernels that are products of matrices, or convolutions of images and their
// gradients. Images have channels as the last axis.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_PRODUCTCASES_H
#define HFTA_UNITTESTS_TILES_PRODUCTCASES_H

#include "ProductText.h"
#include "TileKernels.h"

namespace mlir::hfta {

/// A product of two matrices. By default the terms of an operand's row or
/// column are neighbours in memory. If an operand is turned, it is stored
/// transposed: each stored row holds one term of all rows or columns.
struct MatrixProduct {
  int64_t rows, columns, terms;
  std::array<int64_t, 6> tile;
  bool lhsIsTurned, rhsIsTurned;
  std::string stored, factors; ///< element types, in memory and when multiplied
  int64_t batches = 0;         ///< size of the batch axis; 0: no batch axis
  int64_t apart = 1;           ///< stride of the rows that are read of the lhs

  ProductCase makeCase(bool hasMaps) const;
};

/// Returns the loops m, n and k of a matrix product, and the indices of the
/// operands, which may be turned.
ProductLoops getMatrixLoops(bool lhsIsTurned, bool rhsIsTurned);

/// The rows and columns of a tile, the words of terms per step, and the rows
/// and columns that a thread computes.
struct TileShape {
  int64_t rows, columns, words, threadRows, threadColumns;

  std::array<int64_t, 6> makeTile(int64_t termsOfWord,
                                  int64_t groups = 1) const {
    return {rows,       columns,       words * termsOfWord,
            threadRows, threadColumns, groups};
  }
};

/// The tile shapes with 64 rows or more.
inline constexpr TileShape kTileShapes[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 4, 8}, {64, 128, 16, 4, 8},
    {64, 64, 16, 4, 4},   {128, 32, 16, 4, 4}, {64, 32, 32, 2, 4},
    {64, 16, 32, 2, 2}};

/// A convolution of square images with square filters. `size` is the number of
/// rows of its result, `taps` that of a filter.
struct Convolution {
  int64_t images, size, channels, outputs, taps;
  int64_t padding, stride, dilation;
  std::array<int64_t, 6> tile;
  std::string type = "bf16"; ///< in memory and when multiplied

  /// Returns the number of rows of the input, all of which are read.
  int64_t countPixels() const {
    return (size - 1) * stride + (taps - 1) * dilation + 1 - 2 * padding;
  }
  ProductCase makeForward(bool hasMaps) const;
  /// Makes the gradient by the input. The convolution may have neither strides
  /// nor dilations.
  ProductCase makeInputGradient(bool hasMaps) const;
  /// Makes the gradient by the weights. Each sum has the positions of
  /// `imagesOfSum` images as its terms.
  ProductCase makeWeightGradient(int64_t imagesOfSum, bool hasMaps) const;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTCASES_H
