//===- ProductCases.h - Kernels of matrices and convolutions ----*- C++ -*-===//
//
// Products of matrices, and of images in the forms of convolutions and their
// gradients, with channels last.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_PRODUCTCASES_H
#define HFTA_UNITTESTS_TILES_PRODUCTCASES_H

#include "ProductText.h"
#include "TileKernels.h"

namespace mlir::hfta {

/// A product of two matrices. In a turned side, each row holds the places of
/// one term, which are neighbours in memory.
struct MatrixProduct {
  int64_t rows, columns, terms;
  std::array<int64_t, 6> tile;
  bool lhsIsTurned, rhsIsTurned;
  std::string stored, factors; ///< types, in memory and when multiplied
  int64_t batches = 0;         ///< the size of the batch axis; 0: there is none
  int64_t apart = 1;           ///< the stride of the rows that are read of the
                               ///< lhs

  ProductCase makeCase(bool hasMaps) const;
};

/// Returns the loops m, n and k of matrices, whose places or terms come first.
ProductLoops getMatrixLoops(bool lhsIsTurned, bool rhsIsTurned);

/// A tile's rows, columns and words of terms, and the rows and columns of a
/// thread.
struct TileShape {
  int64_t rows, columns, words, threadRows, threadColumns;

  std::array<int64_t, 6> makeTile(int64_t termsOfWord,
                                  int64_t groups = 1) const {
    return {rows,       columns,       words * termsOfWord,
            threadRows, threadColumns, groups};
  }
};

/// All shapes of tiles with 64 rows or more.
inline constexpr TileShape kTileShapes[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 4, 8}, {64, 128, 16, 4, 8},
    {64, 64, 16, 4, 4},   {128, 32, 16, 4, 4}, {64, 32, 32, 2, 4},
    {64, 16, 32, 2, 2}};

/// A convolution of square images and taps; `size` is that of its result.
struct Convolution {
  int64_t images, size, channels, outputs, taps;
  int64_t padding, stride, dilation;
  std::array<int64_t, 6> tile;
  std::string type = "bf16"; ///< both in memory and when multiplied

  /// Returns the size of its input, every pixel of which is read.
  int64_t countPixels() const {
    return (size - 1) * stride + (taps - 1) * dilation + 1 - 2 * padding;
  }
  ProductCase makeForward(bool hasMaps) const;
  /// Makes the gradient of the input, for a convolution without strides and
  /// dilations.
  ProductCase makeInputGradient(bool hasMaps) const;
  /// Makes the gradient of the weights, each of whose sums has the positions of
  /// `imagesOfSum` images as its terms.
  ProductCase makeWeightGradient(int64_t imagesOfSum, bool hasMaps) const;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTCASES_H
