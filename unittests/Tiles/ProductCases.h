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

/// A product of two matrices. A side whose rows are terms has its places beside
/// each other in memory.
struct MatrixProduct {
  int64_t rows, columns, terms;
  std::array<int64_t, 6> tile;
  bool lhsIsTurned, rhsIsTurned;
  std::string stored, factors; ///< types
  int64_t batches = 0;         ///< 0: there is no such axis
  int64_t apart = 1;           ///< of the lhs every so many'th row is read

  ProductCase makeCase(bool hasMaps) const;
};

/// The loops m, n and k of matrices, in which places or terms come first.
ProductLoops getMatrixLoops(bool lhsIsTurned, bool rhsIsTurned);

/// A tile's rows, columns, words of terms, and what a thread has of it.
struct TileShape {
  int64_t rows, columns, words, threadRows, threadColumns;

  std::array<int64_t, 6> makeTile(int64_t termsOfWord,
                                  int64_t groups = 1) const {
    return {rows,       columns,       words * termsOfWord,
            threadRows, threadColumns, groups};
  }
};

/// All of them with 64 rows or more.
inline constexpr TileShape kTileShapes[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 4, 8}, {64, 128, 16, 4, 8},
    {64, 64, 16, 4, 4},   {128, 32, 16, 4, 4}, {64, 32, 32, 2, 4},
    {64, 16, 32, 2, 2}};

/// Of square images and taps; `size` is that of what the convolution makes.
struct Convolution {
  int64_t images, size, channels, outputs, taps;
  int64_t padding, stride, dilation;
  std::array<int64_t, 6> tile;
  std::string type = "bf16"; ///< what is stored and multiplied

  /// Of what it reads, that all of it is read.
  int64_t countPixels() const {
    return (size - 1) * stride + (taps - 1) * dilation + 1 - 2 * padding;
  }
  ProductCase makeForward(bool hasMaps) const;
  /// Without strides and dilations.
  ProductCase makeInputGradient(bool hasMaps) const;
  /// So many images' positions are the terms of a sum.
  ProductCase makeWeightGradient(int64_t imagesOfSum, bool hasMaps) const;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTCASES_H
